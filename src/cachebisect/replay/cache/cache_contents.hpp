// The items of one filling of the caches: the same samples at every boundary of a chain.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/cache/host_arena.hpp"

namespace cachebisect {

/// Batches with the memory behind them, and the views that are handed out.
template <class BatchType>
struct BatchStore {
  std::vector<OwnedBatch<BatchType>> owned;
  std::vector<BatchType> views;

  void resize(std::size_t count, const std::shared_ptr<MemoryResource>& memory) {
    owned.reserve(count);
    while (owned.size() > count) owned.pop_back();
    while (owned.size() < count) owned.emplace_back(memory);
  }
  void seal() {
    views.clear();
    for (const auto& item : owned) views.push_back(item.batch);
  }
};

/// Measured sizes of a filling.
struct ContentSizes {
  double bytes_host = 0;                         ///< of the boundaries held on the host
  double bytes_device = 0;                       ///< of those held on the device
  std::vector<double> item_bytes;                ///< of one sample, by boundary
  std::vector<double> serve_seconds_per_sample;  ///< by boundary
  std::vector<FieldValues> fields;               ///< that collate gets
  std::optional<double> grouped_bytes_share;     ///< see CacheFacts
};

/// Which samples a filling holds.
struct CacheSamples {
  std::vector<SampleIndex> indices;  ///< whole batches
  std::uint64_t epoch = 0;           ///< in the keys of their random draws
};

/// One thread at a time.
class CacheContents {
 public:
  /// Keeps references to both.
  CacheContents(const Pipeline& pipeline, Device& device, const CopyOptions& copy)
      : pipeline_(pipeline), device_(device), copy_(copy) {}

  /// Loads `samples` through `loader`, which must be halted and is halted afterwards, into the
  /// memory of those that were cached before. False, with nothing cached, if they took more than
  /// `sample_bytes`. Throws what the pipeline throws and Error(interrupted); nothing is cached
  /// then.
  [[nodiscard]] bool fill(CacheSamples samples, Executor& loader, const std::stop_token& stop,
                          double sample_bytes = std::numeric_limits<double>::infinity());

  [[nodiscard]] bool filled() const noexcept { return filled_; }
  [[nodiscard]] const CacheSamples& cached() const noexcept { return cached_; }
  [[nodiscard]] HostCacheView host(std::size_t boundary) const {
    return {samples_.at(boundary), host_batches_.at(boundary).views};
  }
  [[nodiscard]] std::span<const DeviceBatch> device(std::size_t boundary) const {
    return device_batches_.at(boundary).views;
  }
  /// Remembers the content of a boundary, so that intact() can tell whether it changed.
  void remember(std::size_t boundary) { hashes_.at(boundary) = hashes_of(boundary); }
  [[nodiscard]] bool intact(std::size_t boundary) const {
    const auto& remembered = hashes_.at(boundary);
    return !remembered || *remembered == hashes_of(boundary);
  }
  [[nodiscard]] ContentSizes sizes() const;

 private:
  [[nodiscard]] std::size_t boundaries() const { return pipeline_.stages().size() + 1; }
  void make_room();
  [[nodiscard]] bool load(Executor& loader, double sample_bytes, const std::stop_token& stop);
  void fill_device();
  [[nodiscard]] std::vector<std::uint64_t> hashes_of(std::size_t boundary) const;
  [[nodiscard]] std::vector<std::uint64_t> device_hashes_of(std::size_t boundary) const;

  const Pipeline& pipeline_;
  Device& device_;
  CopyOptions copy_;
  CacheSamples cached_;
  bool filled_ = false;
  HostArena arena_;
  std::vector<std::vector<Sample>> samples_;             // by boundary
  std::vector<BatchStore<HostBatch>> host_batches_;      // by boundary
  std::vector<BatchStore<DeviceBatch>> device_batches_;  // by boundary
  /// By boundary; empty: not remembered.
  std::vector<std::optional<std::vector<std::uint64_t>>> hashes_;
};

}  // namespace cachebisect
