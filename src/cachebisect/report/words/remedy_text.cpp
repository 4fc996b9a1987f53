#include "cachebisect/report/words/remedy_text.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"

namespace cachebisect {
namespace {

std::string gain(const Estimate& rate, const std::string& how) {
  if (!rate.value) return "";
  const std::string range = rate.interval ? rate_interval(*rate.interval, " to ") + ", " : "";
  return format_rate(*rate.value, rate.interval) + " samples/s (" + range + how + ")";
}

bool may_lose(const Estimate& gain) {
  return gain.value.value_or(0) < 0 || (gain.interval && gain.interval->low < 0);
}

}  // namespace

std::string remedy_gain(const Remedy& remedy) {
  const std::string predicted = gain(remedy.predicted, "predicted");
  const std::string measured = gain(remedy.measured, "measured");
  if (predicted.empty() && measured.empty()) return "";
  const bool loses = may_lose(remedy.predicted) || may_lose(remedy.measured);
  return (loses ? "changes throughput by " : "gains ") + predicted +
         (predicted.empty() || measured.empty() ? "" : ", ") + measured;
}

std::string remedies_caution(const std::vector<Remedy>& remedies) {
  if (remedies.empty()) return "";
  const Remedy& first = remedies.front();
  const Estimate& gain = first.measured.value ? first.measured : first.predicted;
  return may_lose(gain) ? "None of these is certain to gain: try one before you keep it." : "";
}

std::string edit_text(const Edit& edit) {
  if (edit.kind == EditKind::remove) return "in the file: remove " + edit.path;
  if (edit.kind == EditKind::insert && edit.path.ends_with("/-")) {
    return "in the file: append to " + edit.path.substr(0, edit.path.size() - 2) + ": " +
           edit.value;
  }
  if (edit.kind == EditKind::insert) {
    return "in the file: insert at " + edit.path + ": " + edit.value;
  }
  return "in the file: " + edit.path + " = " + edit.value;
}

}  // namespace cachebisect
