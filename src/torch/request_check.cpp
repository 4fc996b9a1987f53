#include "request_check.hpp"

#include <string>

#include "autocast.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

void check_graph(const ModelStepRequest& request) {
  if (!request.train.cuda_graph) return;
  if (request.device != DeviceKind::cuda) {
    refuse("train.cuda_graph: the step runs on " + std::string(to_string(request.device)) +
           "; remove it, or choose --device cuda");
  }
  if (request.train.accumulate > 1) {
    refuse(
        "train.cuda_graph: a graph repeats one step, and with train.accumulate only some steps "
        "run the optimizer; remove one of them");
  }
}

}  // namespace

const ModelStepRequest& checked(const ModelStepRequest& request) {
  const TrainSpec& train = request.train;
  if (train.classes < 1) {
    refuse("train.classes: " + std::to_string(train.classes) +
           " is out of range; it must be at least 1");
  }
  if (train.kind != TrainSpec::Kind::module && train.loss != "cross_entropy") {
    refuse("train.loss: a built-in model has no loss \"" + train.loss +
           "\"; known is cross_entropy");
  }
  if (train.precision != "fp32" && !mixed_dtype(train.precision)) {
    refuse("train.precision: there is no precision \"" + train.precision +
           "\"; known are fp32, bf16-mixed, fp16-mixed");
  }
  if (train.memory_format != "contiguous" && train.memory_format != "channels_last") {
    refuse("train.memory_format: there is no order \"" + train.memory_format +
           "\"; known are contiguous, channels_last");
  }
  if (train.accumulate < 1) {
    refuse("train.accumulate: " + std::to_string(train.accumulate) +
           " is out of range; it must be at least 1");
  }
  check_graph(request);
  if (request.device == DeviceKind::emulated) {
    refuse("a model does not run on the emulated device; train.kind emulated does");
  }
  return request;
}

void check_forward_alone(const TrainSpec& train) {
  const std::string reason =
      " does not apply to an exported package, which is a forward pass alone; remove it, or ";
  if (train.precision != "fp32") {
    refuse("train.precision: " + train.precision + reason + "export the model with autocast");
  }
  if (train.accumulate > 1) refuse("train.accumulate" + reason + "save the model as TorchScript");
}

}  // namespace cachebisect::torch_module
