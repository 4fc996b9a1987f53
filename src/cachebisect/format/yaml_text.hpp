// YAML of any JSON value, for files that people and YAML readers read.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Block style, two spaces per level, ending in a line break; short lists of numbers on one line.
/// Texts are always quoted, so that none is read as something else: keys too, unless they are
/// plain words. Readers of YAML 1.1 (PyYAML) and 1.2 see the same values. Bytes that are not UTF-8
/// become U+FFFD; numbers that are not finite become null, as in JSON.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_yaml(const nlohmann::ordered_json& value);

}  // namespace cachebisect
