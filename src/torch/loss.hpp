// The loss functions of a step.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace cachebisect::torch_module {

/// A loss, averaged over the batch.
class Loss {
 public:
  /// Throws Error(usage) with the known names if there is no such loss.
  explicit Loss(const std::string& name);

  /// False if the model's output is the loss.
  [[nodiscard]] bool has_target() const noexcept { return kind_ != Kind::output; }
  /// A scalar. Throws std::runtime_error if output and target do not fit each other.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& output, const at::Tensor& target) const;

 private:
  enum class Kind { cross_entropy, mse, l1, bce_with_logits, output };
  static Kind parse(const std::string& name);

  std::string name_;
  Kind kind_;
};

}  // namespace cachebisect::torch_module
