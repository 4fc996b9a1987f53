// Models from files that PyTorch saved.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model.hpp"

namespace cachebisect::torch_module {

/// Loads a model that PyTorch saved: TorchScript, or a program of torch.export that AOTInductor
/// compiled. `inputs`: names of the fields that forward() gets. Throws Error(usage) that names the
/// file, what it is and what to save instead: no file, no archive, an archive without code, a
/// program that is not compiled, an archive that is damaged or of another LibTorch, a forward()
/// with other inputs.
std::unique_ptr<Model> load_model(const std::string& file, const std::vector<std::string>& inputs);

/// Throws Error(usage): "train.module: FILE WHAT".
[[noreturn]] void refuse_file(const std::string& file, const std::string& what);

/// What to do about a file that this LibTorch cannot read.
std::string other_version(const std::exception& error);

}  // namespace cachebisect::torch_module
