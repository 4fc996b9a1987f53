#include "cachebisect/bisect/advice/process_warnings.hpp"

#include <algorithm>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"

namespace cachebisect {
namespace {

constexpr double kReportStartAboveSeconds = 1;  ///< if the length of an epoch is not known
constexpr std::size_t kMostFiles = 10;
/// Samplers repeat a few samples, so that all ranks have as many.
constexpr double kReportReadTimes = 1.5;

/// The length of a whole epoch, its start included; empty if the length of the data set is not
/// known.
std::optional<double> epoch_seconds(const ChainDescription& chain, double start,
                                    const Estimate& live) {
  const std::uint64_t samples = chain.epoch_samples.value_or(chain.samples);
  if (samples == 0 || !live.value || *live.value <= 0) return std::nullopt;
  return start + static_cast<double>(samples) / *live.value;
}

void warn_of_epoch_start(std::vector<Warning>& out, const ChainDescription& chain,
                         const Estimate& live) {
  if (!chain.epoch_start_seconds || chain.persistent_workers) return;
  const double start = *chain.epoch_start_seconds;
  const auto epoch = epoch_seconds(chain, start, live);
  if (epoch ? start < kNegligible * *epoch : start < kReportStartAboveSeconds) return;
  std::string text = "an epoch begins with " + duration(start) + " without a batch";
  if (epoch) text += ", " + percent(start / *epoch) + " of its " + duration(*epoch);
  text += ", which no stage is blamed for";
  const bool processes = chain.workers > 0;
  out.push_back(
      {"epoch_start",
       text + (processes ? ": workers start, get the data set and load their first batches"
                         : ": the data set prepares itself"),
       processes ? setting_text(chain.settings, "persistent_workers", "true")
                 : "prepare it once, before the first epoch"});
}

void warn_of_idle_workers(std::vector<Warning>& out, const Measurements& measured) {
  const ChainDescription& chain = measured.chain;
  const int idle = std::min(measured.cache.idle_workers, chain.workers);
  if (idle <= 0) return;
  const std::string busy = std::to_string(std::max(1, chain.workers - idle));
  out.push_back({"idle_workers",
                 std::to_string(idle) + " of " +
                     counted(static_cast<std::uint64_t>(chain.workers), "worker") +
                     " delivered nothing: the data set has no samples for them",
                 "split it into at least as many parts as there are workers, or " +
                     setting_text(chain.settings, "workers", busy)});
}

void warn_of_duplicates(std::vector<Warning>& out, const ChainDescription& chain) {
  const int ranks = chain.ranks - chain.ranks_without_loader;
  if (ranks < 2 || chain.samples == 0 || !chain.epoch_samples) return;
  const double times =
      static_cast<double>(*chain.epoch_samples) * ranks / static_cast<double>(chain.samples);
  if (times < kReportReadTimes) return;
  out.push_back({"duplicates",
                 "each of " + std::to_string(ranks) + " ranks reads " +
                     format_count(*chain.epoch_samples) + " of the " + format_count(chain.samples) +
                     " samples in an epoch: each sample is read " + format_fixed(times, 1) +
                     " times",
                 chain.settings.advice_or("duplicates", "give each rank a part of the samples")});
}

/// Those with workers. Launchers need not tell their number.
int ranks_here(const ChainDescription& chain) {
  const int ranks = std::max(chain.local_ranks, ranks_per_machine(chain));
  return chain.nodes.empty() ? std::max(1, ranks - chain.ranks_without_loader) : ranks;
}

void warn_of_threads(std::vector<Warning>& out, const Measurements& measured) {
  const ChainDescription& chain = measured.chain;
  const int threads = extra_worker_threads(chain);
  const double cores = measured.usable_cpus() * ranks_per_machine(chain);
  if (threads <= cores) return;
  std::string subject = counted(static_cast<std::uint64_t>(chain.workers), "worker") + " with " +
                        counted(static_cast<std::uint64_t>(chain.worker_threads), "thread") +
                        " each";
  const int ranks = ranks_here(chain);
  if (ranks > 1) subject = std::to_string(ranks) + " ranks of " + subject;
  out.push_back({"oversubscribed",
                 subject + " want " + std::to_string(threads) + " cores, and " + rate(cores) +
                     " can be used: they take turns",
                 setting_text(chain.settings, "worker_threads", "1")});
}

std::string host_cause(const Measurements& measured) {
  if (is_launch_bound(measured)) {
    return "The step is bound by launching: launching the work takes longer than doing it";
  }
  return "It takes longer to launch the work than the device to do it, or it waits for the device "
         "in every step";
}

void warn_of_host(std::vector<Warning>& out, const Measurements& measured) {
  if (!is_host_bound(measured)) return;
  out.push_back({"host_bound",
                 "with data at hand, the device had nothing left to do at " +
                     percent(*device_idle_share(measured)) +
                     " of the step ends: the host limits the training step. " +
                     host_cause(measured),
                 "read results back less often (loss.item()), use a larger batch, or launch fewer "
                 "kernels (torch.compile, CUDA graphs)"});
}

void warn_of_files(std::vector<Warning>& out, const std::vector<BlockRecord>& records) {
  std::vector<std::string> files;
  for (const BlockRecord& record : records) {
    for (const std::string& file : record.result.not_kept) {
      if (std::ranges::find(files, file) == files.end()) files.push_back(file);
    }
  }
  if (files.empty()) return;
  const std::size_t count = files.size();
  if (count > kMostFiles) {
    files.resize(kMostFiles);
    files.push_back("and " + std::to_string(count - kMostFiles) + " more");
  }
  out.push_back(
      {"not_kept",
       "checkpoints that measured steps saved or removed were left alone: they would hold "
       "the state of a job that is being measured",
       "--no-protect keeps them", files});
}

void warn_of_gpu(std::vector<Warning>& out, const ChainDescription& chain) {
  if (chain.gpu_problem.empty()) return;
  out.push_back({"gpu_not_used",
                 "this machine has a GPU, but device auto is the cpu: " + chain.gpu_problem,
                 "set up CUDA (scripts/setup --cuda), or say device cpu"});
}

}  // namespace

std::optional<double> device_idle_share(const Measurements& measured) {
  double steps = 0;
  double idle = 0;
  for (const BlockRecord& record : measured.blocks) {
    const auto& share = record.result.device_idle_share;
    if (!share || !record.shows_replay_at(measured.stages())) continue;
    steps += record.result.steps;
    idle += *share * record.result.steps;
  }
  return steps > 0 ? std::optional(idle / steps) : std::nullopt;
}

bool is_host_bound(const Measurements& measured) {
  return device_idle_share(measured).value_or(0) >= kNearlyAll;
}

bool is_launch_bound(const Measurements& measured) {
  const ChainDescription& chain = measured.chain;
  return is_host_bound(measured) && chain.settings.of_file && chain.sync_every == 0;
}

int ranks_per_machine(const ChainDescription& chain) {
  if (chain.nodes.empty()) return chain.ranks;
  return std::ranges::max_element(chain.nodes, {},
                                  [](const NodeDescription& node) { return node.ranks.count; })
      ->ranks.count;
}

int extra_worker_threads(const ChainDescription& chain) {
  if (chain.worker_threads <= 1) return 0;
  return ranks_here(chain) * chain.workers * chain.worker_threads;
}

std::vector<Warning> find_process_warnings(const Measurements& measured, const Estimate& live) {
  std::vector<Warning> out;
  warn_of_epoch_start(out, measured.chain, live);
  warn_of_idle_workers(out, measured);
  warn_of_duplicates(out, measured.chain);
  warn_of_threads(out, measured);
  warn_of_host(out, measured);
  warn_of_files(out, measured.blocks);
  warn_of_gpu(out, measured.chain);
  return out;
}

}  // namespace cachebisect
