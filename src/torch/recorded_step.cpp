#include "recorded_step.hpp"

#include "error_text.hpp"
#include <ATen/ops/empty_strided.h>

namespace cachebisect::torch_module {
namespace {

constexpr const char* kRecording =
    "train.cuda_graph: this step cannot be recorded as a CUDA graph, set it to false";

bool same_form(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  return !a.defined() || (a.sizes() == b.sizes() && a.strides() == b.strides() &&
                          a.scalar_type() == b.scalar_type());
}

at::Tensor copy_of(const at::Tensor& tensor) {
  return tensor.defined() ? at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options())
                          : at::Tensor();
}

}  // namespace

bool RecordedStep::fits(const StepTensors& batch) const {
  for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
    if (!same_form(batch.inputs[i], held_.inputs[i])) return false;
  }
  return same_form(batch.target, held_.target);
}

void RecordedStep::copy(const StepTensors& batch) {
  for (std::size_t i = 0; i < batch.inputs.size(); ++i) held_.inputs[i].copy_(batch.inputs[i]);
  if (batch.target.defined()) held_.target.copy_(batch.target);
}

void RecordedStep::step(const StepTensors& batch, const Step& step) {
  if (held_.inputs.empty()) {
    for (const at::Tensor& input : batch.inputs) held_.inputs.push_back(copy_of(input));
    held_.target = copy_of(batch.target);
  }
  if (!fits(batch)) return step(batch);
  copy(batch);
  if (warmups_ < kWarmupSteps) {
    ++warmups_;
    return step(held_);
  }
  if (!recorded_) {
    in_libtorch(kRecording, [&] { graph_->record([&] { step(held_); }); });
    recorded_ = true;
  }
  graph_->replay();
}

}  // namespace cachebisect::torch_module
