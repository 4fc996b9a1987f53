// The order in which live blocks read samples: none twice before the epoch ends.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// A position in the endless sequence of epochs that advances from block to block; pipelines over
/// the same data set may share it. Not thread safe.
class LiveOrder {
 public:
  explicit LiveOrder(const Pipeline& pipeline);
  /// The order of another pipeline that shares this position: its blocks take other samples.
  [[nodiscard]] LiveOrder shared_with(const Pipeline& pipeline) const;

  /// Reserves `batches` batches for a block and returns the position of the first sample.
  std::uint64_t reserve(std::uint64_t batches) noexcept;
  /// The samples of `batches` batches from `position` on, in the executor's order.
  [[nodiscard]] std::vector<SampleIndex> indices(std::uint64_t position,
                                                 std::uint64_t batches) const;
  /// `count` of these samples, evenly spaced.
  [[nodiscard]] std::vector<SampleIndex> some_indices(std::uint64_t position, std::uint64_t batches,
                                                      std::uint64_t count) const;

 private:
  const Pipeline* pipeline_;
  std::uint64_t epoch_length_;
  std::shared_ptr<std::uint64_t> next_;
};

}  // namespace cachebisect
