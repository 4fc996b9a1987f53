#include "cachebisect/replay/reading/live_reading.hpp"

#include <algorithm>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/replay/reading/residency.hpp"

namespace cachebisect {
namespace {

/// True if the last batch of an epoch is smaller than the others.
bool cuts_batches(const Pipeline& pipeline) {
  return !pipeline.spec().drop_last &&
         pipeline.samples() % static_cast<std::uint64_t>(pipeline.batch_size()) != 0;
}

}  // namespace

std::optional<double> LiveReading::caches_filled(const Pipeline& pipeline) {
  cached_share_.reset();
  if (io_ == IoMode::warm) cached_share_ = resident_share(pipeline.source(), cache_->indices());
  return cached_share_;
}

LiveReading::Block LiveReading::begin(const Pipeline& pipeline, LiveOrder& order,
                                      std::uint64_t batches, std::uint64_t round_batch) {
  Block block;
  if (io_ == IoMode::warm) {
    block.request.indices = cache_->indices();
    block.request.first_position = round_batch * static_cast<std::uint64_t>(pipeline.batch_size());
    block.resident_share = cached_share_;
    return block;
  }
  const std::uint64_t position = order.reserve(batches);
  if (io_ == IoMode::cold) {
    chosen_ = order.indices(position, batches);
    evict(pipeline.source(), chosen_);
    block.resident_share = resident_share(pipeline.source(), chosen_);
    block.request.indices = chosen_;
    return block;
  }
  block.resident_share = spot_check(pipeline, order, position, batches);
  if (cuts_batches(pipeline)) {
    chosen_ = order.indices(position, batches);
    block.request.indices = chosen_;
  } else {
    block.request.first_position = position;
  }
  return block;
}

std::optional<double> LiveReading::spot_check(const Pipeline& pipeline, const LiveOrder& order,
                                              std::uint64_t position, std::uint64_t batches) {
  constexpr std::uint64_t one_in = 16;  // opening a file brings its inode in
  constexpr std::uint64_t max_samples = 32;
  constexpr double pause = 50;
  const double began = monotonic_seconds();
  if (began < next_check_) return std::nullopt;
  const std::uint64_t samples = batches * static_cast<std::uint64_t>(pipeline.batch_size());
  const std::uint64_t count = std::clamp<std::uint64_t>(samples / one_in, 1, max_samples);
  const auto share =
      resident_share(pipeline.source(), order.some_indices(position, batches, count));
  const double ended = monotonic_seconds();
  next_check_ = ended + pause * (ended - began);
  return share;
}

}  // namespace cachebisect
