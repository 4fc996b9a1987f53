#include "cachebisect/compare/change_text.hpp"

#include <cmath>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

/// "+3.1", "-12": a share in percent.
std::string signed_percent(double share) {
  std::string text = percent(std::abs(share));
  text.pop_back();
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return (zero ? "" : share < 0 ? "-" : "+") + text;
}

const char* unit_of(const ComparedFigure& figure) {
  return figure.unit == FigureUnit::share ? " points" : "%";
}

}  // namespace

std::string figure_text(const Estimate& figure, FigureUnit unit) {
  if (!figure.value || !std::isfinite(*figure.value)) return "-";
  switch (unit) {
    case FigureUnit::samples_per_second:
      return format_rate(*figure.value, figure.interval);
    case FigureUnit::share:
      return format_percent(*figure.value);
    case FigureUnit::seconds_per_sample:
      return (*figure.value < 0 ? "-" : "") + short_duration(std::abs(*figure.value));
  }
  return "-";
}

std::string interval_text(const ComparedFigure& figure) {
  if (!figure.change.interval) return "";
  const Interval& interval = *figure.change.interval;
  return signed_percent(interval.low) + " to " + signed_percent(interval.high) + unit_of(figure);
}

std::string short_change_text(const ComparedFigure& figure) {
  if (!figure.change.value || !std::isfinite(*figure.change.value)) return "-";
  if (figure.kind() == ChangeKind::none) return "~";
  const std::string change = signed_percent(*figure.change.value) + unit_of(figure);
  return figure.change.interval ? change : "(" + change + ")";
}

std::string change_text(const ComparedFigure& figure) {
  const std::string interval = interval_text(figure);
  return short_change_text(figure) + (interval.empty() ? "" : " (" + interval + ")");
}

}  // namespace cachebisect
