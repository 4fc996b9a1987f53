// The copy stage: holds how batches go to the device; the copying itself is the device's.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// What copy.device and the builder's copy() are.
class CACHEBISECT_API PlainCopy final : public CopyStage {
 public:
  /// Throws Error(usage) when options.prefetch is not in 0..3.
  explicit PlainCopy(const CopyOptions& options);
  [[nodiscard]] CopyOptions options() const noexcept override { return options_; }

 private:
  CopyOptions options_;
};

}  // namespace cachebisect
