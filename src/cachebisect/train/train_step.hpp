// The training step as the tool sees it: takes a device batch, enqueues its work, returns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/batch.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline_spec.hpp"
#include "cachebisect/train/step_parts.hpp"
#include "cachebisect/train/step_profiler.hpp"

namespace cachebisect {

/// A field that a step needs, checked against the chain before anything runs.
struct ExpectedField {
  std::string name;
  std::vector<DType> dtypes{};  ///< any of these; empty: any
  /// "NCHW", "N", ...; one letter per dimension. C, H and W are checked if the sizes below are > 0.
  std::string layout{};
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct StepContext {
  Stream* stream = nullptr;  ///< the device's compute stream
  Device* device = nullptr;
  std::uint64_t index = 0;               ///< of the step, from 0
  StepPartObserver* observer = nullptr;  ///< is told of each part of parts(); may be null
};

/// Versions of the libraries that compute a step; empty: not used, or unknown.
struct StepLibraries {
  std::string libtorch;
  std::string cudnn;
};

/// Called only from the training thread.
class CACHEBISECT_API TrainStep {
 public:
  virtual ~TrainStep();
  [[nodiscard]] virtual std::string name() const = 0;
  /// What the heading of the report says about the step: name() and every setting that changes
  /// what a step costs.
  [[nodiscard]] virtual std::string description() const;
  [[nodiscard]] virtual std::vector<ExpectedField> expects() const { return {}; }
  /// Devices that step() can run on, checked before anything runs. On CUDA the batch is in the
  /// memory of the GPU, and work that is not queued on context.stream is neither timed nor waited
  /// for.
  [[nodiscard]] virtual std::vector<DeviceKind> devices() const { return {DeviceKind::cpu}; }
  /// Enqueues one step on context.stream and returns. Must not write the batch, whose buffers are
  /// reused after an event recorded on return. Throws OutOfMemory if the device has no room, and
  /// Error(data) or anything else if the step fails.
  virtual void step(const DeviceBatch& batch, const StepContext& context) = 0;
  /// The parts that step() tells to context.observer, in order; not every step has each
  /// (`accumulate`). Empty: the step is one piece.
  [[nodiscard]] virtual std::vector<StepPart> parts() const { return {}; }
  /// Waits for what step() enqueued and returns the loss, as loss.item() does; empty if there is no
  /// loss.
  virtual std::optional<double> loss() { return std::nullopt; }
  /// Keeps the weights for restore(); false if the step cannot (the report says so).
  virtual bool snapshot() { return false; }
  virtual void restore() {}
  /// Undoes what step() changed in settings of the process, such as the number of threads of
  /// LibTorch; the next step() changes them again. Called before another step runs, and at the end.
  virtual void restore_process() noexcept {}
  /// Frees memory of the device that a library keeps for later, as torch.cuda.empty_cache() does.
  /// Called when batches or caches find no room there.
  virtual void release_memory() {}
  [[nodiscard]] virtual StepLibraries libraries() const { return {}; }
  /// A profiler of the library that computes the step; null if it has none.
  [[nodiscard]] virtual std::unique_ptr<StepProfiler> make_profiler(
      const StepProfilerOptions& /*options*/) {
    return nullptr;
  }
};

/// A step from a callable on a device batch. On CUDA, the callable's work goes to the legacy
/// default stream or to streams that synchronise with it: before each call that stream waits for
/// the compute stream, and after it the compute stream waits for that one. Work on a stream made
/// with cudaStreamNonBlocking needs the form below. Throws Error(usage) for an empty callable.
CACHEBISECT_API std::unique_ptr<TrainStep> make_callback_step(
    std::function<void(const DeviceBatch&)> callback,
    std::vector<DeviceKind> devices = {DeviceKind::cpu});
/// A step from a callable that queues its work on context.stream: on CUDA, the cudaStream_t that
/// context.stream->native() returns. Throws Error(usage) for an empty callable.
CACHEBISECT_API std::unique_ptr<TrainStep> make_callback_step(
    std::function<void(const DeviceBatch&, const StepContext&)> callback,
    std::vector<DeviceKind> devices = {DeviceKind::cpu});
/// A step that takes `step_ms` of the device's time by Device::enqueue_work(), with jitter drawn by
/// (seed, step index).
CACHEBISECT_API std::unique_ptr<TrainStep> make_emulated_step(const EmulateSpec& emulate,
                                                              std::uint64_t seed);

/// Throws Error(usage) naming the field, what the step needs and what the chain gives.
CACHEBISECT_API void check_expectations(const TrainStep& step, const BatchSpec& given);
/// Throws Error(usage) naming the step, the device and the remedy if the step does not run on it.
CACHEBISECT_API void check_device(const TrainStep& step, const DeviceInfo& device);

/// What the LibTorch module needs to make a step: train.kind is model or module.
struct ModelStepRequest {
  TrainSpec train;
  BatchSpec input;  ///< what arrives at the step
  DeviceKind device = DeviceKind::cpu;
  int ordinal = 0;
  Stream* stream = nullptr;  ///< the device's compute stream; null: its default stream
  std::uint64_t seed = 1;
  int threads = 1;  ///< of the step, on the cpu
};

/// What the module's `extern "C" const cachebisect::TorchModule* cachebisect_torch_module()`
/// returns.
struct TorchModule {
  const char* abi;  ///< plugin_abi() of its build
  /// Throws Error(usage) for a model, precision or input that does not fit.
  TrainStep* (*make_step)(const ModelStepRequest& request);
  void (*destroy_step)(TrainStep* step);
  /// Parameters of a model, for tests and docs. Throws Error(usage) for an unknown model.
  std::int64_t (*parameter_count)(const char* model, std::int64_t classes);
  /// LibTorch's number of threads in the calling thread, for tests.
  int (*thread_count)();
};

/// Opens the LibTorch module (CACHEBISECT_MODULE_PATH, next to the executable, ../lib/cachebisect)
/// and makes the step; the module stays open as long as the step. Throws Error(usage) with the
/// remedy if the module is not found.
CACHEBISECT_API std::shared_ptr<TrainStep> make_model_step(const ModelStepRequest& request);

}  // namespace cachebisect
