// SGD, Adam and AdamW with LibTorch's fused kernels, and a state that can be saved and restored.
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "cachebisect/pipeline/pipeline_spec.hpp"

namespace cachebisect::torch_module {

/// Updates float32 parameters in place from their gradients, as torch.optim with fused=True does:
/// SGD with momentum and L2 weight decay; Adam and AdamW with betas (0.9, 0.999), eps 1e-8.
class Optimizer {
 public:
  /// Throws Error(usage) for an unknown kind or a value out of range.
  Optimizer(const OptimizerSpec& spec, std::vector<at::Tensor> parameters);

  /// Parameters without a gradient are left alone. `found_inf`: 0, or 1 to change nothing, as a
  /// float32 tensor [1] on the device; empty: 0.
  void step(const std::optional<at::Tensor>& found_inf = {});
  /// Frees the gradients, as zero_grad(set_to_none=True) does.
  void clear_gradients();
  /// The gradients of the parameters that have one.
  [[nodiscard]] std::vector<at::Tensor> gradients() const;
  /// A copy of all gradients, for set_gradients().
  [[nodiscard]] std::vector<at::Tensor> copy_gradients() const;
  void set_gradients(const std::vector<at::Tensor>& copies);
  /// All tensors that step() changes in addition to the parameters; the same ones on every call.
  [[nodiscard]] std::vector<at::Tensor> state() const;

 private:
  enum class Kind { sgd, adam, adamw };
  static Kind parse(const OptimizerSpec& spec);
  /// The tensors whose parameter has a gradient, from one tensor per parameter.
  [[nodiscard]] std::vector<at::Tensor> with_gradient(const std::vector<at::Tensor>& all) const;

  OptimizerSpec spec_;
  Kind kind_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> first_moments_;   // SGD: momentum buffers
  std::vector<at::Tensor> second_moments_;  // Adam, AdamW
  std::vector<at::Tensor> steps_;           // Adam, AdamW
};

}  // namespace cachebisect::torch_module
