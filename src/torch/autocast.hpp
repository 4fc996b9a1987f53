// Mixed precision for the duration of a scope.
#pragma once

#include <optional>
#include <string_view>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace cachebisect::torch_module {

/// The 16-bit dtype of train.precision; empty for fp32.
std::optional<c10::ScalarType> mixed_dtype(std::string_view precision);

/// During its lifetime, the calling thread's operations that benefit from a 16-bit dtype use it on
/// this kind of device (torch.autocast). Does nothing without a dtype.
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, std::optional<c10::ScalarType> dtype);
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
