#include "cachebisect/replay/live_reading.hpp"

#include "cachebisect/replay/residency.hpp"

namespace cachebisect {

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
  plan.first_position = position;
  return plan;
}

LoadPlan LiveReading::begin_cold(const Pipeline& pipeline, BlockResult& result) {
  evict(pipeline.source(), chosen_);
  result.resident_share = resident_share(pipeline.source(), chosen_);
  LoadPlan plan;
  plan.indices = chosen_;
  return plan;
}

}  // namespace cachebisect
