// The first stages of a chain, run for one sample at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cachebisect/data/memory.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::prepare {

/// Buffers of its own; keeps a reference to the pipeline. Used by one thread at a time.
class CACHEBISECT_INTERNAL_API ChainPrefix {
 public:
  /// `stages`: how many of them run, the source included.
  ChainPrefix(const Pipeline& pipeline, std::size_t stages);

  /// The sample behind the last stage, valid until the next call; null if it is damaged and its
  /// stage skips damaged samples. Throws Error that names stage, sample and file.
  const Sample* run(SampleIndex index);
  /// What stage `position` has made of that sample.
  [[nodiscard]] const Sample& output(std::size_t position) const { return outputs_.at(position); }
  /// What each stage took for all samples so far.
  [[nodiscard]] std::span<const double> seconds() const noexcept { return seconds_; }

 private:
  const Sample* run_stage(std::size_t position, SampleIndex index, const Sample* input);

  const Pipeline* pipeline_;
  Arena arena_;
  std::vector<Sample> outputs_;
  std::vector<double> seconds_;
};

}  // namespace cachebisect::prepare
