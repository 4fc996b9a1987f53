// A training step made from the user's callable.
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {
namespace {

using BatchFunction = std::function<void(const DeviceBatch&)>;
using StepFunction = std::function<void(const DeviceBatch&, const StepContext&)>;

/// Puts work that names no stream in its place between the work on the compute stream.
class DefaultStreamFence {
 public:
  void before(const StepContext& context) {
    Stream* const other = default_stream(context);
    if (other != nullptr) order(*context.device, *context.stream, *other);
  }
  void after(const StepContext& context) {
    Stream* const other = default_stream(context);
    if (other != nullptr) order(*context.device, *other, *context.stream);
  }

 private:
  static Stream* default_stream(const StepContext& context) {
    return context.device == nullptr ? nullptr : context.device->default_stream();
  }

  /// What is queued on `second` from now on waits for what is queued on `first`.
  void order(Device& device, Stream& first, Stream& second) {
    if (device_ != &device) mark_ = device.make_event();
    device_ = &device;
    device.record(*mark_, first);
    device.wait(second, *mark_);
  }

  const Device* device_ = nullptr;  ///< that made the mark
  std::unique_ptr<Event> mark_;
};

class CallbackStep final : public TrainStep {
 public:
  CallbackStep(StepFunction callback, std::vector<DeviceKind> devices)
      : callback_(std::move(callback)), devices_(std::move(devices)) {}

  [[nodiscard]] std::string name() const override { return "callback"; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override { return devices_; }
  void step(const DeviceBatch& batch, const StepContext& context) override {
    callback_(batch, context);
  }

 private:
  StepFunction callback_;
  std::vector<DeviceKind> devices_;
};

/// Calls `callback` between two fences.
StepFunction fenced(BatchFunction callback) {
  auto fence = std::make_shared<DefaultStreamFence>();
  return [callback = std::move(callback), fence = std::move(fence)](const DeviceBatch& batch,
                                                                    const StepContext& context) {
    fence->before(context);
    callback(batch);
    fence->after(context);
  };
}

[[noreturn]] void refuse_empty() {
  throw Error(ErrorKind::usage, "the callback of the training step is empty");
}

}  // namespace

std::unique_ptr<TrainStep> make_callback_step(BatchFunction callback,
                                              std::vector<DeviceKind> devices) {
  if (!callback) refuse_empty();
  return std::make_unique<CallbackStep>(fenced(std::move(callback)), std::move(devices));
}

std::unique_ptr<TrainStep> make_callback_step(StepFunction callback,
                                              std::vector<DeviceKind> devices) {
  if (!callback) refuse_empty();
  return std::make_unique<CallbackStep>(std::move(callback), std::move(devices));
}

}  // namespace cachebisect
