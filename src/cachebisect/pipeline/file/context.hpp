// The errors of a pipeline file: where they are and how they are worded. Internal to pipeline/file.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/setting_path.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"

namespace cachebisect::spec {

struct Context {
  std::string origin;
  SpecPaths paths;
  /// JSON pointers that --set wrote to, with the option as given.
  std::map<std::string, std::string> overridden{};
  /// The name of the top level in messages.
  std::string top = "the file";

  /// Throws Error(usage) "origin: /pointer what", or "--set path=value: /pointer what" if the value
  /// was set there.
  [[noreturn]] void fail(const SettingPath& at, const std::string& what) const;
  /// The name of a place in messages: its JSON pointer, printable and clipped, or `top`.
  [[nodiscard]] std::string place(const SettingPath& at) const;
};

/// Throws unless `value` is an object with keys in `known` only; names the nearest known key.
void check_keys(const nlohmann::json& value, std::span<const std::string> known,
                const SettingPath& at, const Context& context);

/// `value` as JSON text for a message: printable, at most 60 bytes.
std::string clipped(const nlohmann::json& value);

}  // namespace cachebisect::spec
