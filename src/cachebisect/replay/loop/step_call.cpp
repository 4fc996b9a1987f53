#include "cachebisect/replay/loop/step_call.hpp"

#include <string>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/device/memory_remedy.hpp"

namespace cachebisect {
namespace {

Error completed(const OutOfMemory& error, const Device& device) {
  const DeviceInfo& info = device.info();
  if (info.kind == DeviceKind::cpu) {
    return {ErrorKind::data, std::string("no memory left: ") + error.what() +
                                 "; lower batch_size, workers, prefetch or --cache-host"};
  }
  std::string held = format_bytes(static_cast<double>(device.held_bytes()));
  if (info.memory_bytes) held += " of " + format_bytes(static_cast<double>(*info.memory_bytes));
  return {ErrorKind::device,
          std::string(to_string(info.kind)) + ":" + std::to_string(info.ordinal) +
              " is out of memory: " + error.what() + "; batches and caches hold " + held + "; " +
              std::string(kDeviceMemoryRemedy)};
}

/// True for an error of the device itself, which ends with the same remedy.
bool says(const Error& error, const std::string& failure) {
  const std::size_t remedy = failure.find("; ");
  return std::string(error.what())
      .ends_with(failure.substr(remedy == std::string::npos ? 0 : remedy));
}

/// The error that is being handled, with the failure of the device that may have caused it.
Error with_device_failure(Device& device) {
  const Error error = current_error(ErrorKind::data);
  if (error.kind() == ErrorKind::interrupted) return error;
  try {
    device.throw_if_failed();
  } catch (const Error& failure) {
    if (says(error, failure.what())) return error;
    return {ErrorKind::device, std::string(error.what()) + "; " + failure.what()};
  }
  return error;
}

template <class Work>
auto with_context(const TrainStep& step, Device& device, const Work& work) {
  const auto named = [&](const Error& error) {
    return error.with_context("training step '" + step.name() + "'");
  };
  try {
    return work();
  } catch (const OutOfMemory& error) {
    throw named(completed(error, device));
  } catch (...) {
    throw named(with_device_failure(device));
  }
}

/// work(), once more if the device was out of memory and could make room.
template <class Work>
auto with_room(const TrainStep& step, Device& device, const Work& work) {
  return with_context(step, device, [&] {
    try {
      return work();
    } catch (const OutOfMemory&) {
      if (!device.free_unused()) throw;
      return work();
    }
  });
}

}  // namespace

void call_step(TrainStep& step, const DeviceBatch& batch, const StepContext& context) {
  with_room(step, *context.device, [&] { step.step(batch, context); });
}

void wait_for_loss(TrainStep& step, Device& device) {
  with_context(step, device, [&] { (void)step.loss(); });
}

bool keep_weights(TrainStep& step, Device& device) {
  return with_room(step, device, [&] { return step.snapshot(); });
}

void restore_weights(TrainStep& step, Device& device) {
  with_context(step, device, [&] { step.restore(); });
}

}  // namespace cachebisect
