// Loss scaling, so that gradients in float16 do not underflow.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace cachebisect::torch_module {

/// torch.amp.GradScaler with its default settings. Never waits for the device: fused optimizers
/// read on the device whether to skip a step.
class GradScaler {
 public:
  explicit GradScaler(const c10::Device& device);

  [[nodiscard]] at::Tensor scale(const at::Tensor& loss) const;
  /// Divides the gradients by the scale. Returns 1 if one of them is not finite, else 0, as a
  /// float32 tensor on the device.
  at::Tensor unscale(const std::vector<at::Tensor>& gradients);
  /// Lowers the scale after gradients that are not finite; raises it after 2,000 finite steps.
  void update(const at::Tensor& found_inf);
  /// All tensors that update() changes; the same ones on every call.
  [[nodiscard]] std::vector<at::Tensor> state() const { return {scale_, growth_tracker_}; }

 private:
  at::Tensor scale_;
  at::Tensor growth_tracker_;
};

}  // namespace cachebisect::torch_module
