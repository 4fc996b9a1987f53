#include "cachebisect/timing/split_batch.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

double length(double begin, double end) { return std::max(0.0, end - begin); }

TimePart time_part(StepPart part) {
  switch (part) {
    case StepPart::forward:
      return TimePart::forward;
    case StepPart::backward:
      return TimePart::backward;
    case StepPart::optimizer:
      return TimePart::optimizer;
  }
  return TimePart::other;
}

/// What lies between the step before and this one.
void split_gap(const BatchMarks& marks, double step_begin, BatchTimes& times) {
  double left = step_begin - marks.former_end;
  if (marks.copy) {
    times.copy_seconds = length(marks.copy->low, marks.copy->high);
    times.of(TimePart::copy) =
        length(std::max(marks.copy->low, marks.former_end), std::min(marks.copy->high, step_begin));
    left = length(times.of(TimePart::copy), left);
  }
  times.of(TimePart::load) = std::min(marks.wait_seconds, left);
  times.of(TimePart::other) = left - times.of(TimePart::load);
}

void split_step(const BatchMarks& marks, double step_begin, double step_end, BatchTimes& times) {
  double begin = step_begin;
  bool told = false;
  for (std::size_t i = 0; i < marks.part_ends.size(); ++i) {
    if (!marks.part_ends[i]) continue;
    const double end = std::clamp(*marks.part_ends[i], begin, step_end);
    times.of(time_part(static_cast<StepPart>(i))) = end - begin;
    begin = end;
    told = true;
  }
  times.of(told ? TimePart::other : TimePart::step) += step_end - begin;
}

}  // namespace

BatchTimes split_batch(const BatchMarks& marks) {
  const double step_end = std::max(marks.step_end, marks.former_end);
  const double step_begin = std::clamp(marks.step_begin, marks.former_end, step_end);
  BatchTimes times;
  times.total_seconds = step_end - marks.former_end;
  times.wait_seconds = marks.wait_seconds;
  split_gap(marks, step_begin, times);
  split_step(marks, step_begin, step_end, times);
  return times;
}

}  // namespace cachebisect
