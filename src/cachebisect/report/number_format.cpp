#include "cachebisect/report/number_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace cachebisect {
namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string with_thousands(std::string digits) {
  const std::size_t point = digits.find('.');
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  std::size_t at = point == std::string::npos ? digits.size() : point;
  while (at > begin + 3) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

int decimals_for(double resolution) {
  if (!(resolution > 0) || !std::isfinite(resolution)) return 0;
  return std::clamp(static_cast<int>(-std::floor(std::log10(resolution))), -6, 6);
}

}  // namespace

std::string format_rate(double value, const std::optional<Interval>& interval) {
  if (!std::isfinite(value)) return "-";
  const double magnitude = std::abs(value);
  double resolution = magnitude > 0 ? std::pow(10.0, std::floor(std::log10(magnitude)) - 2) : 1;
  if (interval && interval->high > interval->low) {
    resolution = std::max((interval->high - interval->low) / 10, magnitude * 1e-4);
  }
  const int decimals = decimals_for(resolution);
  if (decimals >= 0) return with_thousands(fixed(value, decimals));
  const double step = std::pow(10.0, -decimals);
  return with_thousands(fixed(std::round(value / step) * step, 0));
}

std::string format_percent(double share) {
  const double percent = 100 * share;
  const double magnitude = std::abs(percent);
  if (magnitude < 0.05) return "0%";
  return fixed(percent, magnitude < 9.95 ? 1 : 0) + "%";
}

std::string format_percent_interval(const Interval& interval) {
  const int decimals = interval.high - interval.low < 0.02 ? 1 : 0;
  const double unit = decimals == 1 ? 10 : 1;
  // Rounded outward, so that what is printed still holds what was measured.
  const double low = std::floor(100 * interval.low * unit) / unit;
  const double high = std::ceil(100 * interval.high * unit) / unit;
  const std::string separator = low < 0 ? " to " : "-";
  return fixed(low, decimals) + separator + fixed(high, decimals) + "%";
}

std::string format_seconds(double seconds) {
  const double magnitude = std::abs(seconds);
  if (magnitude < 1e-6) return fixed(seconds * 1e9, 0) + " ns";
  if (magnitude < 1e-3) return fixed(seconds * 1e6, magnitude < 1e-5 ? 1 : 0) + " us";
  if (magnitude < 1) return fixed(seconds * 1e3, magnitude < 1e-1 ? 1 : 0) + " ms";
  return fixed(seconds, magnitude < 100 ? 1 : 0) + " s";
}

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fixed(bytes, unit == 0 || std::abs(bytes) >= 100 ? 0 : 1) + " " + kUnits.at(unit);
}

}  // namespace cachebisect
