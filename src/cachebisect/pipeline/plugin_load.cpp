// Opening a plugin: every failure is a usage error that names the file and the remedy.
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include <dlfcn.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/pipeline/plugin.hpp"

namespace cachebisect {
namespace {

constexpr const char* kEntryPoint = "cachebisect_plugin";

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::usage, "plugin " + quote(path) + ": " + what);
}

// A bare file name is sought in the current folder first, as every other file is; dlopen alone
// would not.
std::string locate(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (path.empty()) refuse(path, "the path is empty");
  if (!std::filesystem::exists(status)) {
    if (path.find('/') == std::string::npos) return path;
    refuse(path, "no such file; give the path of a shared library (.so)");
  }
  // Opening a FIFO or a device could wait for ever.
  if (!std::filesystem::is_regular_file(status))
    refuse(path, "not a file; give the path of a shared library (.so)");
  return path.find('/') == std::string::npos ? "./" + path : path;
}

std::shared_ptr<void> open_library(const std::string& path) {
  void* const handle = ::dlopen(locate(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
    refuse(path, std::string("cannot be opened: ") +
                     (reason != nullptr ? reason : "unknown reason") +
                     "; build it as a shared library against cachebisect::core");
  }
  return {handle, [](void* library) { ::dlclose(library); }};
}

const PluginEntry& entry_of(void* library, const std::string& path) {
  using EntryPoint = const PluginEntry* (*)();
  const auto entry_point = reinterpret_cast<EntryPoint>(::dlsym(library, kEntryPoint));
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

// The plugin's exception must be gone before its library is closed: only its text goes on.
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
  const std::shared_ptr<void> library = open_library(path);
  Registry extended = *this;
  extended.libraries_.push_back(library);
  if (const auto failure = register_into(extended, entry_of(library.get(), path))) {
    refuse(path, "registering failed: " + *failure);
  }
  *this = std::move(extended);
}

}  // namespace cachebisect
