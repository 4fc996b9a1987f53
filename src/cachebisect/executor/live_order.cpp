#include "cachebisect/executor/live_order.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "cachebisect/base/random.hpp"
#include "cachebisect/executor/load_program.hpp"

namespace cachebisect {
namespace {

/// A run reads through a smaller data set anyway, wherever it begins.
constexpr std::uint64_t kMinUnshuffled = 4096;

std::uint64_t shift_of(const Pipeline& pipeline, std::uint64_t nonce) {
  const std::uint64_t samples = pipeline.samples();
  if (nonce == 0 || samples == 0) return 0;
  if (!pipeline.spec().shuffle && samples < kMinUnshuffled) return 0;
  return RandomStream({.seed = nonce, .stage = hash_name("order nonce")}).below(samples);
}

}  // namespace

LiveOrder::LiveOrder(const Pipeline& pipeline, std::uint64_t nonce)
    : sampler_(sampler_of(pipeline)),
      grouped_(grouped_order_of(pipeline)),
      batch_size_(static_cast<std::uint64_t>(pipeline.batch_size())),
      epoch_length_(std::max<std::uint64_t>(epoch_length(pipeline), 1)),
      nonce_(nonce),
      shift_(shift_of(pipeline, nonce)),
      next_(std::make_shared<std::uint64_t>(0)) {}

LiveOrder LiveOrder::shared_with(const Pipeline& pipeline) const {
  LiveOrder other(pipeline, nonce_);
  other.next_ = next_;
  return other;
}

std::uint64_t LiveOrder::unread() const noexcept {
  return *next_ < epoch_length_ ? epoch_length_ - *next_ : 0;
}

std::uint64_t LiveOrder::reserve(std::uint64_t batches) noexcept {
  const std::uint64_t first = (*next_ + batch_size_ - 1) / batch_size_ * batch_size_;
  *next_ = first + batches * batch_size_;
  return first;
}

std::vector<SampleIndex> LiveOrder::take(std::uint64_t count, std::vector<SampleIndex> begun) {
  std::vector<SampleIndex> taken = std::move(begun);
  taken.reserve(count);
  std::unordered_set<std::uint64_t> present;
  OrderReader reader;
  for (const SampleIndex sample : taken) present.insert(sample.value);
  while (taken.size() < count) {
    if (present.size() >= epoch_length_) present.clear();
    const SampleIndex sample = index((*next_)++, reader);
    if (present.insert(sample.value).second) taken.push_back(sample);
  }
  return taken;
}

LoadRequest LiveOrder::request(std::uint64_t position) const {
  LoadRequest request;
  request.first_position = position;
  request.order_shift = shift_;
  return request;
}

SampleIndex LiveOrder::index(std::uint64_t position, OrderReader& reader) const {
  const std::uint64_t offset = position % epoch_length_;
  if (grouped_) return reader.index(*grouped_, epoch(position), shift_, offset);
  return sampler_.index(epoch(position), (offset + shift_) % sampler_.size());
}

std::vector<SampleIndex> LiveOrder::indices(std::uint64_t position, std::uint64_t batches) const {
  return some_indices(position, batches, batches * batch_size_);
}

std::vector<SampleIndex> LiveOrder::some_indices(std::uint64_t position, std::uint64_t batches,
                                                 std::uint64_t count) const {
  const std::uint64_t all = batches * batch_size_;
  std::vector<SampleIndex> some;
  some.reserve(count);
  OrderReader reader;
  for (std::uint64_t i = 0; i < count; ++i)
    some.push_back(index(position + i * all / count, reader));
  return some;
}

}  // namespace cachebisect
