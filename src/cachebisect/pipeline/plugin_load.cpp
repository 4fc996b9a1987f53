// Opening a plugin: every failure is a usage error that names the file and the remedy.
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/shared_library.hpp"
#include "cachebisect/pipeline/plugin.hpp"

namespace cachebisect {
namespace {

constexpr const char* kEntryPoint = "cachebisect_plugin";

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::usage, "plugin " + quote(path) + ": " + what);
}

// A bare file name is looked up in the current folder first, like every other file; the loader
// alone would not.
std::string locate(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (path.empty()) refuse(path, "the path is empty");
  if (!std::filesystem::exists(status)) {
    if (path.find('/') == std::string::npos) return path;
    refuse(path, "no such file; give the path of a shared library (.so)");
  }
  // Opening a FIFO or a device could block forever.
  if (!std::filesystem::is_regular_file(status))
    refuse(path, "not a file; give the path of a shared library (.so)");
  return path.find('/') == std::string::npos ? "./" + path : path;
}

std::shared_ptr<const SharedLibrary> open_library(const std::string& path) {
  auto library = std::make_shared<const SharedLibrary>(locate(path));
  if (!library->is_open()) {
    refuse(path, "cannot be opened: " + library->error() +
                     "; build it as a shared library against cachebisect::core");
  }
  return library;
}

const PluginEntry& entry_of(const SharedLibrary& library, const std::string& path) {
  const auto entry_point = library.function<const PluginEntry* (*)()>(kEntryPoint);
  if (entry_point == nullptr) {
    refuse(path,
           "it has no entry point cachebisect_plugin(); end one of its files with "
           "CACHEBISECT_PLUGIN(register_function) of cachebisect/pipeline/plugin.hpp");
  }
  const PluginEntry* const entry = entry_point();
  if (entry == nullptr || entry->abi == nullptr) refuse(path, "its entry point returns nothing");
  if (std::strcmp(entry->abi, plugin_abi()) != 0) {
    refuse(path, "it was built for [" + std::string(entry->abi) + "], this is [" + plugin_abi() +
                     "]; rebuild it with this version's headers and compiler");
  }
  if (entry->register_all == nullptr) refuse(path, "it has no register function");
  return *entry;
}

// The plugin's exception must be destroyed before its library is closed: only its text is kept.
std::optional<std::string> register_into(Registry& registry, const PluginEntry& entry) {
  try {
    entry.register_all(registry);
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "it threw something that is not a std::exception";
  }
}

}  // namespace

const char* plugin_abi() noexcept { return CACHEBISECT_PLUGIN_ABI; }

void Registry::load_plugin(const std::string& path) {
  const std::shared_ptr<const SharedLibrary> library = open_library(path);
  Registry extended = *this;
  extended.libraries_.push_back(library);
  if (const auto failure = register_into(extended, entry_of(*library, path))) {
    refuse(path, "registering failed: " + *failure);
  }
  *this = std::move(extended);
}

}  // namespace cachebisect
