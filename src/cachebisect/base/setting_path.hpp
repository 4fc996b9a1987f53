// The path of a setting in a pipeline file: dotted as --set takes it, a JSON pointer in messages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Keys and 0-based list places from the top level down; empty: the whole file.
class CACHEBISECT_INTERNAL_API SettingPath {
 public:
  SettingPath() = default;
  /// "stages.crop.size". Empty if a part is empty.
  static std::optional<SettingPath> from_dotted(std::string_view text);
  /// "/stages/2/size" (RFC 6901); "" is the whole file. Empty if the text is no pointer.
  static std::optional<SettingPath> from_pointer(std::string_view text);

  /// The path of a member, or of an item of a list.
  [[nodiscard]] SettingPath at(std::string_view key) const;
  [[nodiscard]] SettingPath at(std::size_t index) const;

  [[nodiscard]] const std::vector<std::string>& parts() const noexcept { return parts_; }
  /// Does not escape: a key with a dot in it cannot be written this way.
  [[nodiscard]] std::string dotted() const;
  [[nodiscard]] std::string pointer() const;

  friend bool operator==(const SettingPath&, const SettingPath&) = default;

 private:
  std::vector<std::string> parts_;
};

}  // namespace cachebisect
