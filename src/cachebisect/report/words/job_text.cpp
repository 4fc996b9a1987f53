#include "cachebisect/report/words/job_text.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/report/words/emulated_storage.hpp"

namespace cachebisect {
namespace {

std::string workers_text(const ChainDescription& chain) {
  if (chain.workers == 0) return "loading inside the training thread";
  std::string text = std::to_string(chain.workers) + (chain.workers == 1 ? " worker" : " workers");
  if (chain.worker_search) text += " (auto)";
  if (chain.workers > 1 && chain.loader == LoaderKind::batch) text += ", a batch each";
  return text;
}

}  // namespace

std::string job_text(const ChainDescription& chain) {
  std::string job = "device " + chain.device_name;
  if (chain.ranks > 1) job += ", " + std::to_string(chain.ranks) + " ranks";
  if (chain.ranks_without_loader > 0) {
    job += ", " + std::to_string(chain.ranks_without_loader) + " of them without a loader";
  }
  if (chain.ranks > 1) job += ", each";
  job += (chain.ranks > 1 ? " batch " : ", batch ") + std::to_string(chain.batch_size) + ", " +
         workers_text(chain);
  if (!chain.train.empty()) job += ", step: " + chain.train;
  const std::string storage = emulated_storage_text(chain.effective_json);
  if (!storage.empty()) job += "; the storage is emulated (" + storage + ")";
  return job;
}

std::string rounds_text(const Report& report) {
  const Timing& timing = report.timing;
  std::string text = counted(static_cast<std::uint64_t>(report.verdict.rounds), "round") + " in " +
                     format_seconds(timing.measure_seconds - timing.explain_seconds);
  // Reports of older versions have no wall times.
  if (timing.wall_seconds > 0) {
    text += ", verdict after " + format_seconds(timing.verdict_seconds);
    if (timing.explain_seconds > 0.05) {
      text += ", explained after " + format_seconds(timing.wall_seconds);
    }
  }
  return text + ", " + std::to_string(report.cache.samples) + " samples cached at each boundary";
}

}  // namespace cachebisect
