#include "cachebisect/format/figure_text.hpp"

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {

std::string rate_interval(const Interval& interval, std::string_view between) {
  return format_rate(interval.low, interval) + std::string(between) +
         format_rate(interval.high, interval);
}

std::string rate_with_interval(const Estimate& rate, std::string_view between) {
  if (!rate.value) return "-";
  const std::string text = format_rate(*rate.value, rate.interval);
  return rate.interval ? text + " (" + rate_interval(*rate.interval, between) + ")" : text;
}

std::string share_with_interval(const Estimate& share) {
  if (!share.value) return "-";
  const std::string text = format_percent(*share.value);
  return share.interval ? text + " (" + percent_range(*share.interval) + ")" : text;
}

}  // namespace cachebisect
