// The items of one filling of the caches: the same samples at every boundary of a chain.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
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
    for (std::size_t i = 0; i < count; ++i) owned.emplace_back(memory);
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
  bool vary = false;                             ///< items of one boundary differ by more than 1%
  std::vector<double> item_bytes;                ///< of one sample, by boundary
  std::vector<double> serve_seconds_per_sample;  ///< by boundary
};

/// Filled once; one thread at a time.
class CacheContents {
 public:
  /// Keeps references to both.
  CacheContents(const Pipeline& pipeline, Device& device, const CopyOptions& copy)
      : pipeline_(pipeline), device_(device), copy_(copy) {}

  /// Loads whole batches of `indices` through `loader`, which must be halted and is halted
  /// afterwards. False, with nothing cached, if the samples took more than `sample_bytes`. Throws
  /// what the pipeline throws and Error(interrupted).
  [[nodiscard]] bool fill(std::vector<SampleIndex> indices, Executor& loader,
                          const std::stop_token& stop,
                          double sample_bytes = std::numeric_limits<double>::infinity());

  [[nodiscard]] bool filled() const noexcept { return !hashes_.empty(); }
  [[nodiscard]] std::span<const SampleIndex> indices() const noexcept { return indices_; }
  [[nodiscard]] HostCacheView host(std::size_t boundary) const {
    return {samples_.at(boundary), host_batches_.at(boundary).views};
  }
  [[nodiscard]] std::span<const DeviceBatch> device(std::size_t boundary) const {
    return device_batches_.at(boundary).views;
  }
  [[nodiscard]] bool intact(std::size_t boundary) const {
    return hashes_of(boundary) == hashes_.at(boundary);
  }
  [[nodiscard]] ContentSizes sizes() const;

 private:
  [[nodiscard]] std::size_t boundaries() const { return pipeline_.stages().size() + 1; }
  void make_room();
  [[nodiscard]] bool load(Executor& loader, double sample_bytes, const std::stop_token& stop);
  void fill_device();
  [[nodiscard]] std::vector<std::uint64_t> hashes_of(std::size_t boundary) const;

  const Pipeline& pipeline_;
  Device& device_;
  CopyOptions copy_;
  std::vector<SampleIndex> indices_;
  HostArena arena_;
  std::vector<std::vector<Sample>> samples_;             // by boundary
  std::vector<BatchStore<HostBatch>> host_batches_;      // by boundary
  std::vector<BatchStore<DeviceBatch>> device_batches_;  // by boundary
  std::vector<std::vector<std::uint64_t>> hashes_;       // by boundary
};

}  // namespace cachebisect
