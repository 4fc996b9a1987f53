// Values of the JSON report: what is unknown is null.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace cachebisect::json_values {

/// Keeps the order of the keys.
using Json = nlohmann::ordered_json;

/// Null for a number that is not finite.
[[nodiscard]] Json number(double value);
[[nodiscard]] Json number(const std::optional<double>& value);
[[nodiscard]] Json whole(const std::optional<int>& value);
[[nodiscard]] Json flag(const std::optional<bool>& value);
/// Null for an empty text.
[[nodiscard]] Json text(const std::string& value);

}  // namespace cachebisect::json_values
