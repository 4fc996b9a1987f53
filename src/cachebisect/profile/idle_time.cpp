#include "cachebisect/profile/idle_time.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/profile/step_trace.hpp"

namespace cachebisect::profile {
namespace {

/// A stretch of time, in seconds.
struct Stretch {
  double begin = 0;
  double end = 0;
};

/// Sorted, and none overlaps another.
class Stretches {
 public:
  explicit Stretches(std::vector<Stretch> all) {
    std::sort(all.begin(), all.end(),
              [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
    for (const Stretch& next : all) {
      if (!merged_.empty() && next.begin <= merged_.back().end) {
        merged_.back().end = std::max(merged_.back().end, next.end);
      } else {
        merged_.push_back(next);
      }
    }
  }

  [[nodiscard]] const std::vector<Stretch>& all() const noexcept { return merged_; }
  /// Seconds of `part` that they cover.
  [[nodiscard]] double within(const Stretch& part) const {
    auto next =
        std::lower_bound(merged_.begin(), merged_.end(), part.begin,
                         [](const Stretch& stretch, double begin) { return stretch.end <= begin; });
    double seconds = 0;
    for (; next != merged_.end() && next->begin < part.end; ++next) {
      seconds += std::min(next->end, part.end) - std::max(next->begin, part.begin);
    }
    return seconds;
  }

 private:
  std::vector<Stretch> merged_;
};

/// What happened in a cycle.
struct Activity {
  std::vector<Stretch> steps;
  std::vector<Stretch> copies;
  std::vector<Stretch> loads;
};

void add_kernels(const Cycle& cycle, Activity& to) {
  for (const TracedCall& call : read_step_trace(cycle.step_trace).device_work) {
    const Stretch when{monotonic_time(cycle, call.begin), monotonic_time(cycle, call.end)};
    (call.is_copy ? to.copies : to.steps).push_back(when);
  }
}

Activity activity_in(const Cycle& cycle, DeviceKind device) {
  Activity activity;
  for (const LoopSpan& span : cycle.loop) {
    const Stretch when{span.begin, span.end};
    if (span.work == LoopWork::load) activity.loads.push_back(when);
    if (span.work == LoopWork::copy) activity.copies.push_back(when);
    if (span.work == LoopWork::step && device == DeviceKind::cpu) activity.steps.push_back(when);
  }
  for (const DeviceSpan& span : cycle.device) {
    (span.is_copy ? activity.copies : activity.steps).push_back({span.begin, span.end});
  }
  if (device == DeviceKind::cuda && !cycle.step_trace.empty()) add_kernels(cycle, activity);
  return activity;
}

void add_gap(const Stretch& gap, const Stretches& copies, const Stretches& loads, IdleTime& sum) {
  if (gap.end <= gap.begin) return;
  const double length = gap.end - gap.begin;
  const double copying = std::min(copies.within(gap), length);
  const double loading = std::min(loads.within(gap), length - copying);
  sum.copying += copying;
  sum.loading += loading;
  sum.queueing += length - copying - loading;
}

/// Steps run on after the thread that queued them: there whole periods count, from the beginning of
/// the first to that of the last.
Stretch window_of(const Cycle& cycle, const std::vector<Stretch>& steps, DeviceKind device) {
  if (device == DeviceKind::cpu) return {cycle.begin, cycle.end};
  const auto [first, last] =
      std::minmax_element(steps.begin(), steps.end(),
                          [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  return {first->begin, last->begin};
}

void add_cycle(const Cycle& cycle, Activity activity, DeviceKind device, IdleTime& sum) {
  const Stretch window = window_of(cycle, activity.steps, device);
  const Stretches steps(std::move(activity.steps));
  const Stretches copies(std::move(activity.copies));
  const Stretches loads(std::move(activity.loads));
  double idle_from = window.begin;
  for (const Stretch& step : steps.all()) {
    add_gap({idle_from, std::min(step.begin, window.end)}, copies, loads, sum);
    idle_from = std::max(idle_from, step.end);
  }
  add_gap({idle_from, window.end}, copies, loads, sum);
  sum.total += window.end - window.begin;
}

}  // namespace

std::optional<IdleTime> idle_time(const std::vector<Cycle>& cycles, DeviceKind device) {
  IdleTime sum;
  for (const Cycle& cycle : cycles) {
    Activity activity = activity_in(cycle, device);
    if (!activity.steps.empty()) add_cycle(cycle, std::move(activity), device, sum);
  }
  return sum.total > 0 ? std::optional(sum) : std::nullopt;
}

std::string idle_text(const IdleTime& idle, DeviceKind device) {
  constexpr double kReportIdleAboveShare = 0.01;
  const auto share = [&](double seconds) { return percent(seconds / idle.total); };
  if (idle.idle() < kReportIdleAboveShare * idle.total) {
    return device == DeviceKind::cpu ? "steps followed one another without gaps"
                                     : "the device was busy with steps all the time";
  }
  std::string causes;
  const auto add = [&](double seconds, const char* cause) {
    if (seconds < kReportIdleAboveShare * idle.idle()) return;
    causes += (causes.empty() ? "" : ", ") + share(seconds) + cause;
  };
  add(idle.loading, " while the training thread waited for a batch or loaded one");
  add(idle.copying, " while a batch was copied");
  add(idle.queueing, " between a batch and its step");
  return (device == DeviceKind::cpu ? "no step ran for " : "the device ran no step for ") +
         share(idle.idle()) + " of the time: " + causes;
}

}  // namespace cachebisect::profile
