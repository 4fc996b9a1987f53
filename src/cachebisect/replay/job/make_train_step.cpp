#include <algorithm>
#include <cmath>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/replay/job/train_threads.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

namespace cachebisect {

int train_threads(const TrainSpec& train, int workers) {
  if (train.threads) return *train.threads;
  const int usable = static_cast<int>(std::floor(probe_machine().usable_cpus));
  return std::max(1, usable - workers);
}

std::shared_ptr<TrainStep> make_train_step(const Pipeline& pipeline, Device& device, int workers,
                                           const Registry& registry) {
  const PipelineSpec& spec = pipeline.spec();
  if (device.kind() == DeviceKind::emulated) {
    return make_emulated_step(spec.emulate.value_or(EmulateSpec{}), spec.seed);
  }
  switch (spec.train.kind) {
    case TrainSpec::Kind::model: {
      ModelStepRequest request;
      request.train = spec.train;
      request.input = pipeline.device_spec();
      request.device = device.kind();
      request.ordinal = device.info().ordinal;
      request.seed = spec.seed;
      request.threads = train_threads(spec.train, workers);
      return make_model_step(request);
    }
    case TrainSpec::Kind::plugin:
      return registry.train_step(spec.train.use).make(spec.train.params);
    case TrainSpec::Kind::emulated:
      throw Error(ErrorKind::usage,
                  "train: an emulated step needs the emulated device, and this one is '" +
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
