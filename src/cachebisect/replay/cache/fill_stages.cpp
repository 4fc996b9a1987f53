#include "cachebisect/replay/cache/fill_stages.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/load_program.hpp"

namespace cachebisect {
namespace {

/// How often is said how far it is.
constexpr std::uint64_t kReportedBatches = 64;

std::vector<const CacheStage*> cache_stages(const Pipeline& pipeline, std::size_t& last) {
  std::vector<const CacheStage*> all;
  for (std::size_t i = 0; i < pipeline.collate_position(); ++i) {
    const ChainStage& link = pipeline.stages()[i];
    if (!link.traits.caches) continue;
    all.push_back(static_cast<const CacheStage*>(link.stage.get()));
    last = i + 1;
  }
  return all;
}

bool is_full(const CacheStage* stage) { return stage->use().full; }

}  // namespace

void fill_cache_stages(const Pipeline& pipeline, Device& device, const OpenContext& opening) {
  std::size_t last = 0;
  const std::vector<const CacheStage*> caches = cache_stages(pipeline, last);
  const std::uint64_t samples = epoch_length(pipeline);
  // One on disk may hold what earlier runs kept.
  const auto is_filled = [samples](const CacheStage* stage) {
    const CacheUse use = stage->use();
    return use.full || use.samples >= samples;
  };
  if (std::ranges::all_of(caches, is_filled)) return;
  const int workers = whole_cpus(probe_machine().usable_cpus);
  Executor loader(pipeline, device, {.workers = workers, .prefetch = 1});
  const auto batch = static_cast<std::uint64_t>(pipeline.batch_size());
  const std::uint64_t batches = (samples + batch - 1) / batch;
  loader.start({.batches = batches, .last_stage = last, .observe = false});
  for (std::uint64_t i = 0; i < batches && !std::ranges::all_of(caches, is_full); ++i) {
    if (i % kReportedBatches == 0) {
      opening.report("filling caches: " + format_count(std::min(samples, i * batch)) + " of " +
                     format_count(samples) + " samples");
    }
    loader.release(loader.next(opening.stop), nullptr);
  }
  loader.halt();
}

}  // namespace cachebisect
