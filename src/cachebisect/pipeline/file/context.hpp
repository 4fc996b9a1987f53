// Where in the pipeline file one is, and how its errors are worded. Internal to the pipeline floor.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

namespace cachebisect::spec {

/// A place in the file as a JSON pointer (RFC 6901).
class Pointer {
 public:
  Pointer() = default;
  [[nodiscard]] Pointer at(std::string_view key) const;
  [[nodiscard]] Pointer at(std::size_t index) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

struct Context {
  std::string origin;
  const SpecPaths& paths;
  /// Pointers that --set wrote to, with the option as given.
  std::map<std::string, std::string> overridden;

  /// Throws Error(usage) "origin: /pointer what", or "--set path=value: /pointer what" for a value
  /// from there.
  [[noreturn]] void fail(const Pointer& at, const std::string& what) const;
};

/// Throws unless `value` is an object whose keys are all in `known`; names the nearest one.
void check_keys(const nlohmann::json& value, std::span<const std::string> known, const Pointer& at,
                const Context& context);

/// `value` as JSON text for a message: at most 60 bytes, printable.
std::string clipped(const nlohmann::json& value);

}  // namespace cachebisect::spec
