#include "cachebisect/profile/function_table.hpp"

#include <algorithm>
#include <set>

namespace cachebisect::profile {
namespace {

/// What the worker did then; empty if nothing was recorded.
std::string work_at(const std::vector<LoadSpan>& spans, double seconds,
                    const ChainDescription& chain) {
  const auto next =
      std::lower_bound(spans.begin(), spans.end(), seconds,
                       [](const LoadSpan& span, double time) { return span.end < time; });
  if (next == spans.end() || next->begin > seconds) return "";
  if (next->work == LoadWork::slot_write) return "slot write";
  return next->work == LoadWork::stage ? chain.stages.at(next->stage).name : "";
}

/// The loader's own functions, which call the stages.
bool is_loader(const std::string& name) {
  return name.starts_with("SampleLoader::") || name.starts_with("BatchLoader::") ||
         name.starts_with("Executor::");
}

}  // namespace

void FunctionSums::add(const Cycle& cycle, std::span<const CpuSample> samples,
                       const ChainDescription& chain) {
  for (const CpuSample& sample : samples) {
    for (std::size_t i = 0; i < cycle.workers.size(); ++i) {
      if (cycle.worker_threads[i] != sample.thread) continue;
      const std::string where = work_at(cycle.workers[i], sample.seconds, chain);
      if (!where.empty()) add_stack(where, sample);
    }
  }
}

void FunctionSums::add_stack(const std::string& where, const CpuSample& sample) {
  std::vector<std::string> stack;  // innermost first, within the stage
  for (std::uint32_t i = 0; i < sample.depth; ++i) {
    const std::string& name = symbols_.name_at(sample.frames[i], i > 0);
    if (is_loader(name)) break;
    stack.push_back(name);
  }
  if (stack.empty()) stack.emplace_back("(loader)");
  const double seconds = period_ * sample.periods;
  std::string path;
  std::set<std::string> seen;
  for (auto name = stack.rbegin(); name != stack.rend(); ++name) {
    Sum& sum = sums_[{where, *name}];
    sum.row.where = where;
    sum.row.name = *name;
    if (std::next(name) == stack.rend()) sum.row.self_seconds += seconds;
    if (seen.insert(*name).second) {
      sum.row.total_seconds += seconds;
      ++sum.row.calls;
      ++sum.paths[path];
    }
    path += (path.empty() ? "" : " > ") + *name;
  }
}

std::vector<CallRow> FunctionSums::rows() const {
  std::vector<CallRow> all;
  for (const auto& [key, sum] : sums_) {
    CallRow row = sum.row;
    row.path =
        std::max_element(sum.paths.begin(), sum.paths.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    all.push_back(std::move(row));
  }
  return all;
}

}  // namespace cachebisect::profile
