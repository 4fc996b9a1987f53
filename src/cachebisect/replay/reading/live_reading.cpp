#include "cachebisect/replay/reading/live_reading.hpp"

#include <algorithm>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/pipeline/in_stage.hpp"

namespace cachebisect {
namespace {

/// True if the last batch of an epoch is smaller than the others.
bool cuts_batches(const Pipeline& pipeline) {
  return !pipeline.spec().drop_last &&
         pipeline.samples() % static_cast<std::uint64_t>(pipeline.batch_size()) != 0;
}

/// Returns work(source).
template <class Work>
auto with_source(const Pipeline& pipeline, const Work& work) {
  return in_stage(pipeline.stages().front(), [&] { return work(pipeline.source()); });
}

std::optional<double> share_of(Residency& residency, const Pipeline& pipeline,
                               std::span<const SampleIndex> indices) {
  return with_source(pipeline,
                     [&](const SourceStage& source) { return residency.share(source, indices); });
}

}  // namespace

void LiveReading::caches_filled(const Pipeline& pipeline) {
  with_source(pipeline, [&](const SourceStage& source) {
    residency_.learn(source, cache_->indices().front());
  });
  cached_share_.reset();
  if (io_ == IoMode::warm) cached_share_ = share_of(residency_, pipeline, cache_->indices());
}

LiveReading::Block LiveReading::begin(const Pipeline& pipeline, LiveOrder& order,
                                      std::uint64_t batches, std::uint64_t first_batch) {
  Block block;
  if (io_ == IoMode::warm) {
    block.request.indices = cache_->indices();
    block.request.epoch = cache_->epoch();
    block.request.first_position = first_batch * static_cast<std::uint64_t>(pipeline.batch_size());
    block.resident_share = cached_share_;
    return block;
  }
  const std::uint64_t position = order.reserve(batches);
  if (io_ == IoMode::cold) {
    read_listed(order, position, batches, block);
    with_source(pipeline, [&](const SourceStage& source) { residency_.evict(source, chosen_); });
    block.resident_share = share_of(residency_, pipeline, chosen_);
    return block;
  }
  block.resident_share = check_residency(pipeline, order, position, batches);
  if (cuts_batches(pipeline)) {
    read_listed(order, position, batches, block);
  } else {
    block.request = order.request(position);
  }
  return block;
}

void LiveReading::read_listed(const LiveOrder& order, std::uint64_t position, std::uint64_t batches,
                              Block& block) {
  chosen_ = order.indices(position, batches);
  block.request.indices = chosen_;
  block.request.epoch = order.epoch(position);
}

std::optional<double> LiveReading::check_residency(const Pipeline& pipeline, const LiveOrder& order,
                                                   std::uint64_t position, std::uint64_t batches) {
  constexpr std::uint64_t max_samples = 512;
  constexpr std::uint64_t one_in = 16;  // if opening a file brings its metadata in
  constexpr std::uint64_t max_opened = 32;
  constexpr double pause = 50;
  const double began = monotonic_seconds();
  if (began < next_check_) return std::nullopt;
  const std::uint64_t samples = batches * static_cast<std::uint64_t>(pipeline.batch_size());
  const std::uint64_t count = residency_.spares_metadata()
                                  ? std::min(samples, max_samples)
                                  : std::clamp<std::uint64_t>(samples / one_in, 1, max_opened);
  const auto share = share_of(residency_, pipeline, order.some_indices(position, batches, count));
  const double ended = monotonic_seconds();
  next_check_ = ended + pause * (ended - began);
  return share;
}

}  // namespace cachebisect
