// Samples as bytes without names: for many samples of one spec.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cachebisect/data/sample.hpp"

namespace cachebisect::shards {

/// The sizes of the dynamic dimensions as uint32, then the elements of each field, densely; numbers
/// as little-endian machines have them. Thread safe.
class CACHEBISECT_INTERNAL_API PackedSample {
 public:
  explicit PackedSample(SampleSpec spec);

  /// The size of every sample; empty if a dimension is dynamic.
  [[nodiscard]] std::optional<std::size_t> bytes() const noexcept { return bytes_; }
  /// Replaces what `out` held. Throws Error(internal) if the sample has other fields than the spec,
  /// Error(data) if a dimension is too large.
  void pack(const Sample& sample, std::vector<std::byte>& out) const;
  /// Sets the fields of `out`. False if `bytes` are no sample of this spec; fields may have changed
  /// then.
  [[nodiscard]] bool unpack(std::span<const std::byte> bytes, Sample& out) const;

 private:
  SampleSpec spec_;
  std::optional<std::size_t> bytes_;
};

}  // namespace cachebisect::shards
