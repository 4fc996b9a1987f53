#include "cachebisect/format/json_values.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace cachebisect::json_values {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json whole(const std::optional<int>& value) { return value ? Json(*value) : Json(nullptr); }

Json flag(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }

Json text(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }

}  // namespace cachebisect::json_values
