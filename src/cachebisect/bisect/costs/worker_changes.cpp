#include "cachebisect/bisect/costs/worker_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "cachebisect/bisect/costs/sample_stages.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// What receiving a batch from another process holds the training thread for, at most, as long as
/// nothing was sent: measured for PyTorch's DataLoader, 0.7 ms for batches of a few tensors.
constexpr double kMostSecondsPerBatch = 2e-3;

double most_seconds_to_receive(const ChainDescription& chain) {
  double bytes = 0;
  for (const StageDescription& stage : chain.stages) {
    if (stage.kind == StageKind::collate) bytes = stage.output_bytes.value_or(0);
  }
  const auto samples = static_cast<double>(std::max<std::int64_t>(1, chain.batch_size));
  return kMostSecondsPerBatch / samples + bytes / kLeastMemorySpeed;
}

/// Batches are sent, by processes.
void add_sending(CostChanges& changes, const ChainDescription& chain) {
  if (!chain.sending) {
    changes.unknown_seconds = most_seconds_to_receive(chain);
    return;
  }
  const auto samples = static_cast<double>(std::max<std::int64_t>(1, chain.batch_size));
  changes.added_seconds = chain.sending->worker_seconds / samples;
  changes.received_seconds = chain.sending->trainer_seconds / samples;
}

/// A step of LibTorch on the cores that the workers leave.
bool threads_follow_workers(const ChainDescription& chain) {
  if (!chain.settings.of_file || chain.device_kind != DeviceKind::cpu) return false;
  const auto spec = nlohmann::json::parse(chain.effective_json, nullptr, false);
  if (!spec.is_object() || !spec.contains("train")) return false;
  return spec["train"].contains("model") && !spec["train"].contains("threads");
}

}  // namespace

int train_threads_with(const ChainDescription& chain, int workers) {
  if (!threads_follow_workers(chain)) return chain.train_threads;
  return std::max(1, chain.train_threads + chain.workers - workers);
}

CostChanges changed_workers(const ChainDescription& chain, int workers) {
  CostChanges changes{.workers = workers, .stages = {}};
  const auto [fewer, more] = std::minmax({chain.train_threads, train_threads_with(chain, workers)});
  changes.step_within = static_cast<double>(more) / std::max(1, fewer);
  if (workers == 0) {
    for (std::size_t s = 0; s < chain.stages.size(); ++s) {
      if (chain.stages[s].category == Category::transfer) changes.stages.push_back({s, 0});
    }
  } else if (chain.worker_processes && chain.workers == 0) {
    add_sending(changes, chain);
  }
  return changes;
}

ThreadChanges sample_threads(const ChainDescription& chain, std::int64_t threads) {
  const int count =
      static_cast<int>(std::min(threads, std::max<std::int64_t>(1, chain.batch_size)));
  ThreadChanges changes;
  changes.likely.threads = {.count = count, .stages = count_sample_stages(chain)};
  changes.most = changes.likely;
  changes.most.threads->overlap = true;
  return changes;
}

}  // namespace cachebisect
