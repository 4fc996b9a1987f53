// A model from a TorchScript file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model.hpp"

namespace cachebisect::torch_module {

/// Runs the module's graph operation by operation, as PyTorch runs a model that is not compiled: no
/// fusion, and no first steps that record a profile.
class ScriptModel final : public Model {
 public:
  /// `inputs`: names of the fields that forward() gets. Throws Error(usage) if the file cannot be
  /// loaded, has no forward() of that many arguments, or nothing in it can be trained.
  ScriptModel(const std::string& file, const std::vector<std::string>& inputs);
  ~ScriptModel() override;

  void to(const c10::Device& device) override;
  /// The tensor that forward() returns, or the first one of a tuple.
  at::Tensor forward(const std::vector<at::Tensor>& inputs) override;
  [[nodiscard]] std::vector<at::Tensor> parameters() const override;
  [[nodiscard]] std::vector<at::Tensor> buffers() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cachebisect::torch_module
