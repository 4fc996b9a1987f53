#include "cachebisect/replay/job/make_train_step.hpp"

#include <string>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/train/train_threads.hpp"

namespace cachebisect {
namespace {

std::shared_ptr<TrainStep> make_plugin_step(const TrainStepType& type, const Params& params,
                                            const Device& device) {
  std::shared_ptr<TrainStep> step;
  try {
    step = type.make(params);
  } catch (...) {
    throw current_error(ErrorKind::data).with_context("training step '" + type.type + "'");
  }
  if (!step) {
    throw Error(ErrorKind::internal, "training step '" + type.type + "': make() returned nothing");
  }
  check_device(*step, device.info());
  return step;
}

}  // namespace

std::shared_ptr<TrainStep> make_train_step(const Pipeline& pipeline, Device& device, int workers,
                                           const Registry* registry) {
  const PipelineSpec& spec = pipeline.spec();
  if (device.kind() == DeviceKind::emulated) {
    return make_emulated_step(spec.emulate.value_or(EmulateSpec{}), spec.seed);
  }
  switch (spec.train.kind) {
    case TrainSpec::Kind::model:
    case TrainSpec::Kind::module: {
      ModelStepRequest request;
      request.train = spec.train;
      request.input = pipeline.device_spec();
      request.device = device.kind();
      request.ordinal = device.info().ordinal;
      request.stream = &device.compute_stream();
      request.seed = spec.seed;
      request.threads = train_threads(spec.train, workers);
      return make_model_step(request);
    }
    case TrainSpec::Kind::plugin:
      if (registry == nullptr) {
        throw Error(ErrorKind::usage, "train.use: there is no registry to find '" + spec.train.use +
                                          "' in; pass one, or the step");
      }
      return make_plugin_step(registry->train_step(spec.train.use), spec.train.params, device);
    case TrainSpec::Kind::emulated:
      if (device.kind() == DeviceKind::cuda) {
        return make_emulated_step(spec.emulate.value_or(EmulateSpec{}), spec.seed);
      }
      throw Error(ErrorKind::usage,
                  "train: an emulated step needs the emulated device or CUDA, and this one is '" +
                      std::string(to_string(device.kind())) +
                      "'; add --device emulated, or name a model under train");
    case TrainSpec::Kind::callback:
      break;
  }
  throw Error(ErrorKind::usage,
              "train: kind 'callback' needs a function from a C++ program; name a model "
              "({\"model\": \"lenet\"}), or use --device emulated");
}

}  // namespace cachebisect
