#include "cachebisect/profile/operator_table.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cachebisect/profile/step_trace.hpp"

namespace cachebisect::profile {
namespace {

constexpr double kNano = 1e-9;

struct Part {
  double begin = 0;
  double end = 0;
  const char* name = "";
};

/// Parts of steps in order; a step that tells none is one part.
std::vector<Part> parts_of(const Cycle& cycle) {
  std::vector<Part> parts;
  std::vector<Part> steps;
  for (const LoopSpan& span : cycle.loop) {
    if (span.work == LoopWork::forward) parts.push_back({span.begin, span.end, "forward"});
    if (span.work == LoopWork::backward) parts.push_back({span.begin, span.end, "backward"});
    if (span.work == LoopWork::optimizer) parts.push_back({span.begin, span.end, "optimizer"});
    if (span.work == LoopWork::step) steps.push_back({span.begin, span.end, "step"});
  }
  return parts.empty() ? steps : parts;
}

std::string part_at(const std::vector<Part>& parts, double seconds) {
  const auto next =
      std::upper_bound(parts.begin(), parts.end(), seconds,
                       [](double time, const Part& part) { return time < part.begin; });
  if (next == parts.begin() || seconds > std::prev(next)->end) return "other";
  return std::prev(next)->name;
}

/// Adds calls in the order of their beginnings, the outer ones first.
class CallSums {
 public:
  void add_cycle(const Cycle& cycle) {
    const std::vector<Part> parts = parts_of(cycle);
    std::int64_t thread = -1;
    for (const TracedCall& call : read_step_trace(cycle.step_trace).operators) {
      if (call.thread != thread) open_.clear();
      thread = call.thread;
      while (!open_.empty() && open_.back().call.end <= call.begin) open_.pop_back();
      add(call, part_at(parts, monotonic_time(cycle, call.begin)));
    }
    open_.clear();
  }

  [[nodiscard]] std::vector<CallRow> rows() const {
    std::vector<CallRow> all;
    for (const auto& [key, sum] : sums_) {
      CallRow row = sum.row;
      const auto most =
          std::max_element(sum.paths.begin(), sum.paths.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      row.path = most->first;
      all.push_back(std::move(row));
    }
    return all;
  }

 private:
  struct Sum {
    CallRow row;
    std::map<std::string, double> paths;  ///< seconds by path
  };
  struct Open {
    TracedCall call;
    std::string path;  ///< down to this call
    Sum* sum;
  };

  void add(const TracedCall& call, const std::string& part) {
    Sum& sum = sums_[{part, call.name}];
    const double seconds = kNano * static_cast<double>(call.end - call.begin);
    const std::string above = open_.empty() ? "" : open_.back().path;
    sum.row.where = part;
    sum.row.name = call.name;
    ++sum.row.calls;
    sum.row.self_seconds += seconds;
    const bool recursive = std::any_of(open_.begin(), open_.end(),
                                       [&](const Open& outer) { return outer.sum == &sum; });
    if (!recursive) sum.row.total_seconds += seconds;
    if (!open_.empty()) open_.back().sum->row.self_seconds -= seconds;
    sum.paths[above] += seconds;
    open_.push_back({call, above.empty() ? call.name : above + " > " + call.name, &sum});
  }

  std::map<std::pair<std::string, std::string>, Sum> sums_;
  std::vector<Open> open_;
};

double key_of(const CallRow& row, CallOrder order) {
  switch (order) {
    case CallOrder::total:
      return row.total_seconds;
    case CallOrder::self:
      return row.self_seconds;
    case CallOrder::mean:
      return row.calls > 0 ? row.total_seconds / static_cast<double>(row.calls) : 0;
    case CallOrder::calls:
      break;
  }
  return static_cast<double>(row.calls);
}

}  // namespace

std::optional<CallOrder> parse_call_order(std::string_view text) {
  if (text == "total") return CallOrder::total;
  if (text == "self") return CallOrder::self;
  if (text == "mean") return CallOrder::mean;
  if (text == "calls") return CallOrder::calls;
  return std::nullopt;
}

void sort_rows(std::vector<CallRow>& rows, CallOrder order) {
  std::stable_sort(rows.begin(), rows.end(), [order](const CallRow& a, const CallRow& b) {
    return key_of(a, order) > key_of(b, order);
  });
}

std::vector<CallRow> operator_rows(const std::vector<Cycle>& cycles) {
  CallSums sums;
  for (const Cycle& cycle : cycles) {
    if (!cycle.step_trace.empty()) sums.add_cycle(cycle);
  }
  return sums.rows();
}

}  // namespace cachebisect::profile
