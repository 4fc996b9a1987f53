// What a training step needs of a model.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace cachebisect::torch_module {

/// A model in training mode, with weights in float32. Not thread safe.
class Model {
 public:
  virtual ~Model();
  virtual void to(const c10::Device& device) = 0;
  /// The output that the loss compares with the target.
  virtual at::Tensor forward(const std::vector<at::Tensor>& inputs) = 0;
  /// Those that the optimizer trains, each once.
  [[nodiscard]] virtual std::vector<at::Tensor> parameters() const = 0;
  /// Other tensors that forward() may change, such as running means.
  [[nodiscard]] virtual std::vector<at::Tensor> buffers() const = 0;
  /// False: a step is the forward pass and the loss.
  [[nodiscard]] virtual bool trains() const { return true; }
};

/// Puts the weights of convolutions in channels_last order, as model.to(memory_format=...) does.
void make_channels_last(const Model& model);

}  // namespace cachebisect::torch_module
