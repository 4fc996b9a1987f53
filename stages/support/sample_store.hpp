// Samples by index within a limit of bytes, shared by all workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/sample.hpp"
#include "cachebisect/protocol/cache_use.hpp"

namespace cachebisect::stages {

/// What goes when the limit is reached. none: what is kept stays, which serves training best, as
/// each epoch asks for every sample once (Mohan et al., "Analyzing and Mitigating Data Stalls in
/// DNN Training", VLDB 2021, section 4.1).
enum class Eviction { none, fifo, lru };

/// Thread safe.
class SampleStore {
 public:
  SampleStore() = default;
  SampleStore(const SampleStore&) = delete;
  SampleStore& operator=(const SampleStore&) = delete;
  virtual ~SampleStore() = default;

  /// Keeps a copy, if the limit allows; does nothing if there is one.
  virtual void keep(const Sample& sample) = 0;
  /// Makes `out` that sample. False if it is not there. Where nothing goes a view, which is valid
  /// while the store lives, without a lock; else a copy.
  virtual bool find(SampleIndex index, Sample& out) = 0;
  /// What find() makes a view of; empty if it is not there, or if it makes a copy.
  [[nodiscard]] virtual std::span<const std::byte> held(SampleIndex /*index*/) const { return {}; }
  [[nodiscard]] virtual CacheUse use() const = 0;
};

/// `reuse`: how often a sample serves before keep() replaces it, at most; 0: as often as it is
/// asked for.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::unique_ptr<SampleStore> make_sample_store(
    std::uint64_t limit_bytes, Eviction eviction, std::uint64_t reuse = 0);

}  // namespace cachebisect::stages
