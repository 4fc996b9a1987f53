#include "cachebisect/protocol/device_kind.hpp"

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr std::size_t kMaxDigits = 3;

/// N of ":N".
std::optional<int> ordinal_of(std::string_view text) {
  if (!text.starts_with(':') || text.size() > kMaxDigits + 1) return std::nullopt;
  const auto ordinal = parse_number<int>(text.substr(1));
  return ordinal && *ordinal >= 0 ? ordinal : std::nullopt;
}

}  // namespace

std::string_view to_string(DeviceKind kind) noexcept {
  for (const DeviceKindName& known : kDeviceKinds) {
    if (known.kind == kind) return known.name;
  }
  return "?";
}

std::optional<DeviceName> parse_device_name(std::string_view text) {
  if (text == kAuto) return DeviceName{};
  for (const DeviceKindName& known : kDeviceKinds) {
    if (text == known.name) return DeviceName{known.kind};
    if (!known.numbered || !text.starts_with(known.name)) continue;
    if (const auto ordinal = ordinal_of(text.substr(known.name.size()))) {
      return DeviceName{known.kind, *ordinal};
    }
  }
  return std::nullopt;
}

std::string device_names() {
  std::string text(kAuto);
  for (const DeviceKindName& known : kDeviceKinds) {
    text += &known == &kDeviceKinds.back() ? " or " : ", ";
    text += known.name;
    if (known.numbered) text += "[:N]";
  }
  return text;
}

std::string device_name_pattern() {
  std::string pattern = "^(" + std::string(kAuto);
  for (const DeviceKindName& known : kDeviceKinds) {
    pattern += "|" + std::string(known.name);
    if (known.numbered) pattern += "(:[0-9]{1," + std::to_string(kMaxDigits) + "})?";
  }
  return pattern + ")$";
}

}  // namespace cachebisect
