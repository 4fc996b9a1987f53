// The built-in networks behind an interface that uses only tensors, so that torch::nn is included
// in network.cpp alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace cachebisect::torch_module {

/// The input of a network: images [N, channels, height, width]; 0 means any.
struct ImageInput {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Throws Error(usage) with the known names if there is no such model.
ImageInput image_input(std::string_view model);

/// A network in training mode. Not thread safe.
class Network final : public Model {
 public:
  class Impl;

  /// `classes` outputs; the weights are drawn from `seed` on the cpu, so they are the same on every
  /// device. LibTorch's own random state is left as it was. Throws as image_input() does.
  Network(std::string_view model, std::int64_t classes, std::uint64_t seed);
  ~Network() override;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  void to(const c10::Device& device) override;
  /// Logits [N, classes] of one input: images [N, C, H, W] (mlp: also [N, 784]).
  at::Tensor forward(const std::vector<at::Tensor>& inputs) override;
  [[nodiscard]] std::vector<at::Tensor> parameters() const override;
  /// Running means and variances of batch normalisation.
  [[nodiscard]] std::vector<at::Tensor> buffers() const override;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Total number of elements in all parameters.
std::int64_t parameter_count(const Network& network);

}  // namespace cachebisect::torch_module
