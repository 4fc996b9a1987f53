#include "stages/support/fixed_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "stages/support/kept_samples.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::size_t kChunkBits = 12;
constexpr std::size_t kChunk = std::size_t{1} << kChunkBits;
/// Indices from 2^28 on are not kept.
constexpr std::size_t kChunks = std::size_t{1} << 16U;

/// Marks the place of a sample that is being copied.
constexpr KeptSample kPending{};

class FixedStore final : public SampleStore {
 public:
  explicit FixedStore(std::uint64_t limit_bytes)
      : limit_bytes_(limit_bytes), bytes_left_(limit_bytes), chunks_(kChunks) {}

  void keep(const Sample& sample) override {
    if (full_.load(std::memory_order_relaxed)) return;
    const std::uint64_t index = sample.index();
    Chunk* const chunk = chunk_for(index);
    if (chunk == nullptr) return;
    std::atomic<const KeptSample*>& kept = chunk->samples[index % kChunk];
    const KeptSample* none = nullptr;
    if (!kept.compare_exchange_strong(none, &kPending, std::memory_order_relaxed)) return;
    const auto place = reserve(sample);
    if (!place) return;
    chunk->bytes[index % kChunk] = static_cast<std::uint32_t>(
        std::min<std::size_t>(place->layout->bytes, std::numeric_limits<std::uint32_t>::max()));
    kept.store(pack(sample, *place), std::memory_order_release);
  }

  bool find(SampleIndex index, Sample& out) override {
    const Kept kept = kept_at(index);
    if (kept.sample == nullptr) return false;
    kept.sample->show(out);
    return true;
  }

  [[nodiscard]] std::span<const std::byte> held(SampleIndex index) const override {
    const Kept kept = kept_at(index);
    return {reinterpret_cast<const std::byte*>(kept.sample), kept.bytes};
  }

  [[nodiscard]] CacheUse use() const override {
    const std::lock_guard lock(mutex_);
    CacheUse use;
    use.limit_bytes = limit_bytes_;
    use.bytes = limit_bytes_ - bytes_left_;
    use.samples = count_;
    use.full = full_;
    return use;
  }

 private:
  struct Chunk {
    std::array<std::atomic<const KeptSample*>, kChunk> samples{};
    std::array<std::uint32_t, kChunk> bytes{};  ///< known without reading the sample itself
  };

  struct Kept {
    const KeptSample* sample = nullptr;
    std::size_t bytes = 0;
  };

  [[nodiscard]] Kept kept_at(SampleIndex index) const noexcept {
    const std::uint64_t number = index.value >> kChunkBits;
    if (number >= kChunks) return {};
    const Chunk* const chunk = chunks_[number].load(std::memory_order_acquire);
    if (chunk == nullptr) return {};
    const std::size_t at = index.value % kChunk;
    const KeptSample* const sample = chunk->samples[at].load(std::memory_order_acquire);
    if (sample == nullptr || sample == &kPending) return {};
    return {sample, chunk->bytes[at]};
  }

  /// The chunk of this index; null if it has none, or no room.
  Chunk* chunk_for(std::uint64_t index) {
    const std::uint64_t number = index >> kChunkBits;
    if (number >= kChunks) return nullptr;
    if (Chunk* const chunk = chunks_[number].load(std::memory_order_acquire)) return chunk;
    const std::lock_guard lock(mutex_);
    if (Chunk* const chunk = chunks_[number].load(std::memory_order_relaxed)) return chunk;
    if (sizeof(Chunk) > bytes_left_) {
      full_.store(true, std::memory_order_relaxed);
      return nullptr;
    }
    owned_.push_back(std::make_unique<Chunk>());
    bytes_left_ -= sizeof(Chunk);
    chunks_[number].store(owned_.back().get(), std::memory_order_release);
    return owned_.back().get();
  }

  std::optional<KeptSamples::Place> reserve(const Sample& sample) {
    const std::lock_guard lock(mutex_);
    const auto place = samples_.reserve(sample, bytes_left_);
    if (place) {
      ++count_;
    } else {
      full_.store(true, std::memory_order_relaxed);
    }
    return place;
  }

  std::uint64_t limit_bytes_;
  mutable std::mutex mutex_;  ///< of what follows, but for `full_` and `chunks_`
  std::uint64_t bytes_left_;
  std::uint64_t count_ = 0;
  KeptSamples samples_;
  std::vector<std::unique_ptr<Chunk>> owned_;
  std::atomic<bool> full_ = false;
  std::vector<std::atomic<Chunk*>> chunks_;
};

}  // namespace

std::unique_ptr<SampleStore> make_fixed_store(std::uint64_t limit_bytes) {
  return std::make_unique<FixedStore>(limit_bytes);
}

}  // namespace cachebisect::stages
