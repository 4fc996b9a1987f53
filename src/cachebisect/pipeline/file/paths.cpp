#include "cachebisect/pipeline/file/paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cachebisect/base/names.hpp"

namespace cachebisect::spec {
namespace {

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, inner);
}

/// "s3://bucket/key": it is relative to no folder.
bool is_url(std::string_view path) {
  const std::size_t scheme = path.find("://");
  return scheme != std::string_view::npos && scheme > 0 &&
         std::ranges::all_of(path.substr(0, scheme), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
         });
}

std::string value_of(const std::string& name, const SettingPath& at, const Context& context) {
  if (name == "cache") {
    if (!context.paths.cache_folder.empty()) return context.paths.cache_folder;
    context.fail(at, "uses ${cache}, and there is no cache folder; set XDG_CACHE_HOME or HOME");
  }
  if (!is_variable_name(name))
    context.fail(at, "has an invalid variable name " + quote(name) + " in ${...}");
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) {
    context.fail(at, "uses ${" + name + "}, which is not set in the environment; export " + name +
                         " or write out the path");
  }
  return value;
}

}  // namespace

std::string resolve_path(const std::string& path, const SettingPath& at, const Context& context) {
  if (path.empty()) context.fail(at, "must be a path, not an empty string");
  if (path.find('\0') != std::string::npos)
    context.fail(at, "must be a path without a NUL character");
  std::string out;
  std::size_t done = 0;
  for (std::size_t open = path.find("${"); open != std::string::npos;
       open = path.find("${", done)) {
    const std::size_t close = path.find('}', open);
    if (close == std::string::npos) context.fail(at, "has ${ without its }");
    out += path.substr(done, open - done) +
           value_of(path.substr(open + 2, close - open - 2), at, context);
    done = close + 1;
  }
  out += path.substr(done);
  if (out.empty()) context.fail(at, "is empty after its variables are expanded");
  if (is_url(out)) return out;
  const auto absolute =
      std::filesystem::absolute(std::filesystem::path(context.paths.base_folder) / out);
  return absolute.string();
}

}  // namespace cachebisect::spec
