#include "cachebisect/format/html/figures.hpp"

#include <cmath>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"

namespace cachebisect::html {
namespace {

template <class Format>
std::string figure_text(const std::optional<double>& value, const Format& format) {
  return value && std::isfinite(*value) ? format(*value) : kNotMeasured;
}

bool is_finite(const std::optional<Interval>& interval) {
  return interval && std::isfinite(interval->low) && std::isfinite(interval->high);
}

/// The text of a figure that is shown with its interval.
template <class Format>
std::string figure_text(const Estimate& estimate, const Format& format) {
  if (!estimate.value || !std::isfinite(*estimate.value)) return kNotMeasured;
  return is_finite(estimate.interval) ? format(*estimate.value, *estimate.interval) : kTooFewRounds;
}

}  // namespace

std::string rate_figure(const Estimate& rate) {
  return figure_text(rate, [&](double, const Interval&) { return rate_with_interval(rate); });
}

std::string share_figure(const Estimate& share) {
  return figure_text(share, [](double value, const Interval& interval) {
    return format_percent(value) + " (" + format_percent_interval(interval) + ")";
  });
}

std::string share_figure(const std::optional<double>& share) {
  return figure_text(share, [](double value) { return format_percent(value); });
}

std::string time_figure(const std::optional<double>& seconds) {
  return figure_text(seconds, [](double value) { return format_seconds(value); });
}

std::string bytes_figure(const std::optional<double>& bytes) {
  return figure_text(bytes, [](double value) { return format_bytes(value); });
}

std::string number_figure(const std::optional<double>& number) {
  return figure_text(number, [](double value) { return format_number(value); });
}

}  // namespace cachebisect::html
