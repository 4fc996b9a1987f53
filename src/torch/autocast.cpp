#include "autocast.hpp"

#include <ATen/autocast_mode.h>

namespace cachebisect::torch_module {

std::optional<c10::ScalarType> mixed_dtype(std::string_view precision) {
  if (precision == "bf16-mixed") return c10::kBFloat16;
  if (precision == "fp16-mixed") return c10::kHalf;
  return std::nullopt;
}

AutocastScope::AutocastScope(c10::DeviceType device, std::optional<c10::ScalarType> dtype)
    : device_(device), enabled_(dtype.has_value()) {
  if (!enabled_) return;
  was_enabled_ = at::autocast::is_autocast_enabled(device_);
  old_dtype_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_dtype(device_, *dtype);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (!enabled_) return;
  // Cached casts of weights would be stale after the optimizer's next step.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, old_dtype_);
}

}  // namespace cachebisect::torch_module
