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
  std::uint64_t index = 0;  ///< of the step, from 0
};

/// Called only from the training thread.
class CACHEBISECT_API TrainStep {
 public:
  virtual ~TrainStep();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::vector<ExpectedField> expects() const { return {}; }
  /// Enqueues one step on context.stream and returns. Must not write the batch, whose buffers are
  /// reused after an event recorded on return. Throws Error(data) if the step fails.
  virtual void step(const DeviceBatch& batch, const StepContext& context) = 0;
  /// Waits for what step() enqueued and returns the loss, as loss.item() does; empty if there is no
  /// loss.
  virtual std::optional<double> loss() { return std::nullopt; }
  /// Keeps the weights for restore(); false if the step cannot (the report says so).
  virtual bool snapshot() { return false; }
  virtual void restore() {}
  /// Undoes what step() changed in settings of the process, such as the number of threads of
  /// LibTorch; the next step() changes them again. Called before another step runs, and at the end.
  virtual void restore_process() noexcept {}
};

/// A step from a callable on a device batch.
CACHEBISECT_API std::unique_ptr<TrainStep> make_callback_step(
    std::function<void(const DeviceBatch&)> callback);
/// A step that takes `step_ms` of the emulated device's timeline, with jitter drawn by (seed, step
/// index).
CACHEBISECT_API std::unique_ptr<TrainStep> make_emulated_step(const EmulateSpec& emulate,
                                                              std::uint64_t seed);

/// Throws Error(usage) naming the field, what the step needs and what the chain gives.
CACHEBISECT_API void check_expectations(const TrainStep& step, const BatchSpec& given);

/// What the LibTorch module needs to make a step.
struct ModelStepRequest {
  TrainSpec train;
  BatchSpec input;  ///< what arrives at the step
  DeviceKind device = DeviceKind::cpu;
  int ordinal = 0;
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
