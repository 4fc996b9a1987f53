// A model from an exported package, which AOTInductor compiled: its forward pass alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model.hpp"

namespace cachebisect::torch_module {

/// Runs the compiled forward pass. Its code takes the device, dtypes, shapes and strides of the
/// examples that it was compiled with, or of the dimensions that were declared dynamic.
class PackageModel final : public Model {
 public:
  explicit PackageModel(std::string file);
  ~PackageModel() override;

  /// Loads the package. Throws Error(usage) if it was compiled for another device, or this LibTorch
  /// cannot load it.
  void to(const c10::Device& device) override;
  /// The first output. Throws std::runtime_error if the package does not take the inputs.
  at::Tensor forward(const std::vector<at::Tensor>& inputs) override;
  [[nodiscard]] std::vector<at::Tensor> parameters() const override { return {}; }
  [[nodiscard]] std::vector<at::Tensor> buffers() const override { return {}; }
  [[nodiscard]] bool trains() const override { return false; }

 private:
  class Impl;
  std::string file_;
  std::unique_ptr<Impl> impl_;
  bool checked_ = false;
};

}  // namespace cachebisect::torch_module
