#include "cachebisect/bisect/report/format.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace cachebisect {
namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  const std::string result = text.data();
  return result.find_first_not_of("-0.") == std::string::npos && result.front() == '-'
             ? result.substr(1)
             : result;
}

std::string percent_number(double share) {
  const double value = 100 * share;
  return fixed(value, std::abs(value) < 9.95 ? 1 : 0);
}

}  // namespace

std::string percent(double share) { return percent_number(share) + "%"; }

std::string percent_range(const Interval& shares) {
  return percent_number(shares.low) + " to " + percent_number(shares.high) + "%";
}

std::string rate(double per_second) {
  if (per_second < 99.95) return fixed(per_second, per_second < 9.995 ? 2 : 1);
  std::string digits = fixed(per_second, 0);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string short_duration(double seconds) {
  if (seconds < 0.9995e-6) return fixed(seconds * 1e9, 0) + " ns";
  if (seconds < 0.9995e-3) return fixed(seconds * 1e6, seconds < 9.95e-6 ? 1 : 0) + " us";
  if (seconds < 0.9995) return fixed(seconds * 1e3, seconds < 9.95e-3 ? 1 : 0) + " ms";
  return duration(seconds);
}

std::string duration(double seconds) {
  if (seconds < 9.95) return fixed(seconds, 1) + " s";
  if (seconds < 300) return fixed(std::ceil(seconds), 0) + " s";
  if (seconds < 2 * 3600) return fixed(std::ceil(seconds / 60), 0) + " min";
  return fixed(std::ceil(seconds / 3600), 0) + " h";
}

}  // namespace cachebisect
