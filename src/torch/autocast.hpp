// Mixed precision for the duration of a scope.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace cachebisect::torch_module {

/// During its lifetime, the calling thread's operations that benefit from bfloat16 use it on this
/// kind of device (torch.autocast). Does nothing unless `enabled`.
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, bool enabled);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  bool enabled_;
  bool was_enabled_ = false;
  c10::ScalarType old_dtype_ = c10::ScalarType::Float;
};

}  // namespace cachebisect::torch_module
