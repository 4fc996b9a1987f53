// The kinds of devices and their names: one table for pipeline files, options, reports and schemas.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What the training step runs on.
enum class DeviceKind { cpu, cuda, emulated };

struct DeviceKindName {
  DeviceKind kind;
  std::string_view name;
  bool numbered;  ///< may be followed by ":N"
};
inline constexpr std::array kDeviceKinds{DeviceKindName{DeviceKind::cpu, "cpu", false},
                                         DeviceKindName{DeviceKind::cuda, "cuda", true},
                                         DeviceKindName{DeviceKind::emulated, "emulated", false}};

CACHEBISECT_API std::string_view to_string(DeviceKind kind) noexcept;

/// A device as users name it.
struct DeviceName {
  std::optional<DeviceKind> kind;  ///< empty: "auto"
  int ordinal = 0;                 ///< of "cuda:1": 1
};
/// The device that a text names: "auto", "cpu", "cuda", "cuda:N" or "emulated"; empty for any other
/// text. N is at most 999.
CACHEBISECT_API std::optional<DeviceName> parse_device_name(std::string_view text);
/// "auto, cpu, cuda[:N] or emulated".
CACHEBISECT_API std::string device_names();
/// The regular expression (ECMA 262) of the names that parse_device_name() accepts.
CACHEBISECT_API std::string device_name_pattern();

}  // namespace cachebisect
