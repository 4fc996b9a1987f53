#include "cachebisect/compare/findings.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMaxStages = 3;

/// "9.3 to 15%": the size of a change, whatever its sign.
std::string size_range(const Interval& change) {
  const double one = std::abs(change.low);
  const double other = std::abs(change.high);
  return percent_range({std::min(one, other), std::max(one, other)});
}

/// "5.4 to 7.4 points", likewise.
std::string points(const Interval& change) {
  std::string text = size_range(change);
  text.pop_back();
  return text + " points";
}

std::string verb(const ComparedFigure& figure) {
  return figure.kind() == ChangeKind::higher ? "rose" : "fell";
}

std::string subject(const ComparedFigure& figure) {
  if (figure.stage.empty()) return figure.id == "loss" ? "the whole loss" : figure.id;
  const std::string what = figure.id.substr(figure.id.rfind('.') + 1);
  if (what == "seconds") return figure.stage + "'s time per sample";
  return figure.stage + "'s " + (what == "busy" ? "busy time per sample" : what);
}

std::string sentence(const ComparedFigure& figure) {
  const std::string by = percent(std::abs(*figure.change.value));
  if (figure.unit == FigureUnit::share) {
    return subject(figure) + " " + verb(figure) + " from " + format_percent(*figure.a.value) +
           " to " + format_percent(*figure.b.value) + " of the throughput (by " +
           points(*figure.change.interval) + ")";
  }
  return subject(figure) + " " + verb(figure) + " by " + by + " (" +
         size_range(*figure.change.interval) + ")";
}

bool changed(const ComparedFigure& figure) {
  return figure.kind() == ChangeKind::higher || figure.kind() == ChangeKind::lower;
}

std::string live_unchanged(const ComparedFigure& live) {
  if (!live.change.interval) return "too few rounds to tell whether live changed";
  const Interval& change = *live.change.interval;
  return "no certain difference in live: a change of more than " +
         percent(std::max(std::abs(change.low), std::abs(change.high))) + " would have been seen";
}

/// The stages whose time changed most, among those that changed for certain; largest change first.
std::vector<const ComparedFigure*> changed_stages(const Comparison& comparison) {
  std::vector<const ComparedFigure*> stages;
  for (const ComparedFigure& figure : comparison.figures) {
    if (figure.unit == FigureUnit::seconds_per_sample && changed(figure)) stages.push_back(&figure);
  }
  const auto seconds = [](const ComparedFigure* figure) {
    return std::abs(*figure->b.value - *figure->a.value);
  };
  std::ranges::stable_sort(stages, std::ranges::greater{}, seconds);
  if (stages.size() > kMaxStages) stages.resize(kMaxStages);
  return stages;
}

}  // namespace

std::vector<std::string> describe_changes(const Comparison& comparison) {
  std::vector<std::string> findings;
  for (const ComparedFigure& figure : comparison.figures) {
    if (figure.id == "live" && !changed(figure)) findings.push_back(live_unchanged(figure));
    if (figure.stage.empty() && changed(figure)) findings.push_back(sentence(figure));
  }
  for (const ComparedFigure* stage : changed_stages(comparison)) {
    findings.push_back(sentence(*stage));
  }
  return findings;
}

}  // namespace cachebisect
