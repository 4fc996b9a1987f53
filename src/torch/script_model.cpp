#include "script_model.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "saved_file.hpp"
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

namespace cachebisect::torch_module {

class ScriptModel::Impl {
 public:
  torch::jit::Module module;
};

namespace {

torch::jit::Module load_script(const std::string& file) {
  try {
    return torch::jit::load(file, c10::kCPU);
  } catch (const std::exception& error) {
    refuse_file(file, other_version(error));
  }
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void check_arguments(const torch::jit::Module& module, const std::string& file,
                     const std::vector<std::string>& inputs) {
  const auto method = module.find_method("forward");
  if (!method) refuse_file(file, "has no forward(); save the whole model");
  const auto& arguments = method->function().getSchema().arguments();
  std::vector<std::string> all;
  std::size_t required = 0;
  for (std::size_t i = 1; i < arguments.size(); ++i) {  // the first one is self
    all.push_back(arguments[i].name());
    if (!arguments[i].default_value()) ++required;
  }
  if (inputs.size() >= required && inputs.size() <= all.size()) return;
  refuse_file(file, "has forward(" + join(all) + "), and train.inputs names " +
                        std::to_string(inputs.size()) + ": " + join(inputs) +
                        "; list a field for each argument, in their order");
}

/// Weights that several layers share are listed once.
void add_once(std::vector<at::Tensor>& all, const at::Tensor& tensor) {
  const auto same = [&](const at::Tensor& other) { return other.is_same(tensor); };
  if (std::none_of(all.begin(), all.end(), same)) all.push_back(tensor);
}

void check_trainable(const std::vector<at::Tensor>& parameters, const std::string& file) {
  if (parameters.empty()) {
    refuse_file(
        file,
        "has no parameters that can be trained; save the model before torch.jit.freeze() and "
        "with requires_grad");
  }
  for (const at::Tensor& parameter : parameters) {
    if (parameter.scalar_type() == c10::kFloat) continue;
    refuse_file(file,
                std::string("has parameters of dtype ") + c10::toString(parameter.scalar_type()) +
                    ", and the step trains float32; save model.float() and set train.precision");
  }
}

}  // namespace

ScriptModel::ScriptModel(const std::string& file, const std::vector<std::string>& inputs)
    : impl_(std::make_unique<Impl>(Impl{load_script(file)})) {
  check_arguments(impl_->module, file, inputs);
  impl_->module.train();
  check_trainable(parameters(), file);
}

ScriptModel::~ScriptModel() = default;

void ScriptModel::to(const c10::Device& device) { impl_->module.to(device); }

at::Tensor ScriptModel::forward(const std::vector<at::Tensor>& inputs) {
  const torch::jit::GraphOptimizerEnabledGuard as_written(false);
  c10::IValue output =
      impl_->module.forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
  if (output.isTuple() && !output.toTupleRef().elements().empty()) {
    output = c10::IValue(output.toTupleRef().elements()[0]);
  }
  if (output.isTensor()) return output.toTensor();
  throw std::runtime_error("forward() returns " + output.type()->str() +
                           ", and the step needs a tensor, or a tuple that begins with one");
}

std::vector<at::Tensor> ScriptModel::parameters() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : impl_->module.parameters()) {
    if (tensor.requires_grad()) add_once(all, tensor);
  }
  return all;
}

std::vector<at::Tensor> ScriptModel::buffers() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : impl_->module.buffers()) add_once(all, tensor);
  return all;
}

}  // namespace cachebisect::torch_module
