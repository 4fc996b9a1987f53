// The order of an epoch as a permutation function, never a list.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/sample.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// Position p of epoch e -> sample index: a keyed bijection of [0, size), by Feistel networks on
/// the next power of four, walked until they land inside (Black and Rogaway, "Ciphers with
/// arbitrary finite domains", 2002). Of samples that are read in runs, the runs are in a random
/// order, and positions are shuffled within windows of as many runs as are mixed; a last, shorter
/// run lies anywhere. Without shuffle: the position itself. Thread safe, O(1) memory.
class CACHEBISECT_INTERNAL_API Sampler {
 public:
  Sampler(std::uint64_t size, std::uint64_t seed, bool shuffle, const ReadRuns& runs = {}) noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// `position` < size().
  [[nodiscard]] SampleIndex index(std::uint64_t epoch, std::uint64_t position) const noexcept;
  /// The sample that replaces a damaged one at `position`: P(position + attempt * stride), with a
  /// stride of about 0.618 size() and coprime to it. size() > 0.
  [[nodiscard]] SampleIndex replacement(std::uint64_t epoch, std::uint64_t position,
                                        unsigned attempt) const noexcept;

 private:
  /// Position in an epoch of runs -> sample index.
  [[nodiscard]] std::uint64_t in_runs(std::uint64_t epoch, std::uint64_t position) const noexcept;

  std::uint64_t size_;
  std::uint64_t seed_;
  bool shuffle_;
  std::uint64_t run_;     // samples
  std::uint64_t window_;  // samples
  std::uint64_t stride_;
};

/// The order of a pipeline's epochs.
[[nodiscard]] CACHEBISECT_INTERNAL_API Sampler sampler_of(const Pipeline& pipeline);

}  // namespace cachebisect
