#include "cachebisect/base/number_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace cachebisect {
namespace {

// What std::to_chars writes for these arguments.
template <class... Arguments>
std::string written(Arguments... arguments) {
  constexpr std::size_t kLongest = 400;  // the largest double with six decimals has 316 characters
  std::array<char, kLongest> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), arguments...);
  return {text.data(), result.ptr};
}

// format_fixed() without the sign of what rounds to zero.
std::string unsigned_zero(double value, int decimals) {
  std::string text = format_fixed(value, decimals);
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  return zero && text.front() == '-' ? text.substr(1) : text;
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

// What doubles lose in a product: an end that is whole stays where it is.
constexpr double kRoundingSlack = 1e-9;

double rounded_down(double value, double unit) {
  return std::floor(value * unit + kRoundingSlack) / unit;
}

double rounded_up(double value, double unit) { return -rounded_down(-value, unit); }

std::string percent_of(double value, double (*round)(double, double)) {
  const double rounded = round(value, std::abs(value) < 10 ? 10 : 1);
  return unsigned_zero(rounded, rounded != 0 && std::abs(rounded) < 9.95 ? 1 : 0);
}

std::string percent_number(double share) {
  const double value = 100 * share;
  return unsigned_zero(value, std::abs(value) < 9.95 ? 1 : 0);
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
  if (decimals >= 0) return with_thousands(format_fixed(value, decimals));
  const double step = std::pow(10.0, -decimals);
  return with_thousands(format_fixed(std::round(value / step) * step, 0));
}

std::string format_percent(double share) {
  return std::abs(100 * share) < 0.05 ? "0%" : percent(share);
}

std::string format_percent_interval(const Interval& interval) {
  const int decimals = interval.high - interval.low < 0.02 ? 1 : 0;
  const double unit = decimals == 1 ? 10 : 1;
  // Rounded outward, so that what is printed still holds what was measured.
  const double low = rounded_down(100 * interval.low, unit);
  const double high = rounded_up(100 * interval.high, unit);
  const std::string separator = low < 0 ? " to " : "-";
  return format_fixed(low, decimals) + separator + format_fixed(high, decimals) + "%";
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string format_seconds(double seconds) {
  const double magnitude = std::abs(seconds);
  if (magnitude < 1e-6) return format_fixed(seconds * 1e9, 0) + " ns";
  if (magnitude < 1e-3) return format_fixed(seconds * 1e6, magnitude < 1e-5 ? 1 : 0) + " us";
  if (magnitude < 1) return format_fixed(seconds * 1e3, magnitude < 1e-1 ? 1 : 0) + " ms";
  return format_fixed(seconds, magnitude < 100 ? 1 : 0) + " s";
}

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return format_fixed(bytes, unit == 0 || std::abs(bytes) >= 100 ? 0 : 1) + " " + kUnits.at(unit);
}

std::string format_fixed(double value, int decimals) {
  return written(value, std::chars_format::fixed, decimals);
}

std::string format_count(std::uint64_t count) { return with_thousands(written(count)); }

std::string format_number(double value) {
  return value < 100 ? written(value, std::chars_format::general, 3) : format_fixed(value, 0);
}

std::string format_amount(double value) {
  const double magnitude = std::abs(value);
  const bool below_a_cent = magnitude > 0 && magnitude < 0.005;
  int decimals = magnitude < 9.995 ? 2 : 0;
  if (below_a_cent) decimals = static_cast<int>(-std::floor(std::log10(magnitude)));
  return with_thousands(unsigned_zero(value, decimals));
}

std::string format_exact(double value) {
  const bool whole = std::abs(value) < 1e15 && value == std::trunc(value);
  return whole ? written(static_cast<std::int64_t>(value)) : written(value);
}

std::string percent(double share) { return percent_number(share) + "%"; }

std::string percent_range(const Interval& shares) {
  return percent_of(100 * shares.low, rounded_down) + " to " + percent_at_most(shares.high);
}

std::string percent_at_most(double share) { return percent_of(100 * share, rounded_up) + "%"; }

std::string rate(double per_second) {
  if (per_second < 99.95) return unsigned_zero(per_second, per_second < 9.995 ? 2 : 1);
  return with_thousands(format_fixed(per_second, 0));
}

std::string short_duration(double seconds) {
  if (seconds < 0.9995e-6) return unsigned_zero(seconds * 1e9, 0) + " ns";
  if (seconds < 0.9995e-3) return format_fixed(seconds * 1e6, seconds < 9.95e-6 ? 1 : 0) + " us";
  if (seconds < 0.9995) return format_fixed(seconds * 1e3, seconds < 9.95e-3 ? 1 : 0) + " ms";
  return duration(seconds);
}

std::string duration(double seconds) {
  if (seconds < 9.95) return unsigned_zero(seconds, 1) + " s";
  if (seconds < 300) return format_fixed(std::ceil(seconds), 0) + " s";
  if (seconds < 2 * 3600) return format_fixed(std::ceil(seconds / 60), 0) + " min";
  return format_fixed(std::ceil(seconds / 3600), 0) + " h";
}

}  // namespace cachebisect
