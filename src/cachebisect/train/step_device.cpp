// Checks that a training step runs on the device that was chosen.
#include <algorithm>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/train/in_train_step.hpp"

namespace cachebisect {
namespace {

std::string text_of(const DeviceInfo& device) {
  std::string text(to_string(device.kind));
  if (device.kind == DeviceKind::cuda) text += ":" + std::to_string(device.ordinal);
  return device.name.empty() ? text : text + " (" + device.name + ")";
}

}  // namespace

void check_device(const TrainStep& step, const DeviceInfo& device) {
  const auto runs_on = in_train_step(step, [&] { return step.devices(); });
  if (std::find(runs_on.begin(), runs_on.end(), device.kind) != runs_on.end()) return;
  std::string known;
  for (const DeviceKind kind : runs_on) {
    known += (known.empty() ? "" : " or ") + std::string(to_string(kind));
  }
  const std::string name(to_string(device.kind));
  throw Error(
      ErrorKind::usage,
      "training step '" + step.name() + "' runs on " + (known.empty() ? "no device" : known) +
          ", and the device is " + text_of(device) + "; " +
          (runs_on.empty() ? ""
                           : "use --device " + std::string(to_string(runs_on.front())) + ", or ") +
          "if the step can run on " + name +
          ", name it in devices() of the step or in "
          "make_callback_step()");
}

}  // namespace cachebisect
