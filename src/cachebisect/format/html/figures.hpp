// Figures in cells and on tiles; what was not measured says so.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"

namespace cachebisect::html {

inline constexpr const char* kNotMeasured = "not measured";
/// Shown in place of a figure without an interval.
inline constexpr const char* kTooFewRounds = "too few rounds";

/// "4,520 (4,480 - 4,560)", in samples/s. Figures of few rounds have no interval, and are not
/// shown.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string rate_figure(const Estimate& rate);
/// "41% (38-44%)".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string share_figure(const Estimate& share);
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string share_figure(const std::optional<double>& share);
/// "850 us".
[[nodiscard]] std::string time_figure(const std::optional<double>& seconds);
/// "1.5 MB".
[[nodiscard]] std::string bytes_figure(const std::optional<double>& bytes);
/// "3.14".
[[nodiscard]] std::string number_figure(const std::optional<double>& number);

}  // namespace cachebisect::html
