#include "cachebisect/replay/reading/live_reading.hpp"

#include <algorithm>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/replay/reading/residency.hpp"

namespace cachebisect {
namespace {

/// True when the last batch of an epoch is smaller than the others.
bool cuts_batches(const Pipeline& pipeline) {
  return !pipeline.spec().drop_last &&
         pipeline.samples() % static_cast<std::uint64_t>(pipeline.batch_size()) != 0;
}

}  // namespace

LoadPlan LiveReading::begin(TrainingJob& job, std::uint64_t batches, std::uint64_t round_batch,
                            BlockResult& result) {
  const Pipeline& pipeline = job.pipeline;
  LoadPlan plan;
  if (io_ == IoMode::warm) {
    plan.indices = cache_->indices();
    plan.first_position = round_batch * static_cast<std::uint64_t>(pipeline.batch_size());
    return plan;
  }
  const std::uint64_t position = job.order.reserve(batches);
  if (io_ == IoMode::cold) {
    chosen_ = job.order.indices(position, batches);
    return begin_cold(pipeline, result);
  }
  look(job, position, batches, result);
  if (cuts_batches(pipeline)) {
    chosen_ = job.order.indices(position, batches);
    plan.indices = chosen_;
  } else {
    plan.first_position = position;
  }
  return plan;
}

void LiveReading::look(const TrainingJob& job, std::uint64_t position, std::uint64_t batches,
                       BlockResult& result) {
  constexpr std::uint64_t one_in = 16;  // opening a file brings its inode in
  constexpr std::uint64_t most = 32;
  constexpr double pause = 50;
  const double began = monotonic_seconds();
  if (began < next_look_) return;
  const std::uint64_t samples = batches * static_cast<std::uint64_t>(job.pipeline.batch_size());
  const std::uint64_t count = std::clamp<std::uint64_t>(samples / one_in, 1, most);
  result.resident_share =
      resident_share(job.pipeline.source(), job.order.some_indices(position, batches, count));
  const double ended = monotonic_seconds();
  next_look_ = ended + pause * (ended - began);
}

LoadPlan LiveReading::begin_cold(const Pipeline& pipeline, BlockResult& result) {
  evict(pipeline.source(), chosen_);
  result.resident_share = resident_share(pipeline.source(), chosen_);
  LoadPlan plan;
  plan.indices = chosen_;
  return plan;
}

}  // namespace cachebisect
