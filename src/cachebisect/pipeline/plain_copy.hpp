// The copy stage: options of the copy, which the device itself performs.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// The stage behind copy.device and the builder's copy().
class CACHEBISECT_INTERNAL_API PlainCopy final : public CopyStage {
 public:
  /// Throws Error(usage) if options.prefetch is not in 0..3.
  explicit PlainCopy(const CopyOptions& options);
  [[nodiscard]] CopyOptions options() const noexcept override { return options_; }

 private:
  CopyOptions options_;
};

}  // namespace cachebisect
