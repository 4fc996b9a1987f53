// The training step of a LibTorch model: forward, loss, backward, optimizer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend_settings.hpp"
#include "batch_tensors.hpp"
#include "grad_scaler.hpp"
#include "loss.hpp"
#include "model.hpp"
#include "optimizer.hpp"
#include "recorded_step.hpp"
#include <c10/core/Stream.h>

#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// A built-in model reads the fields `image` [N, C, H, W] (float32; bfloat16 and float16 too with
/// mixed precision) and `label` (int64 [N], or float32 one-hot [N, classes]); a module from a file
/// those of train.inputs and train.target. All are read in place, without copying. LibTorch's
/// process-wide settings (number of threads, cuDNN, TF32) are those of the request from the first
/// step() to restore_process(). Not thread safe.
class ModelStep final : public TrainStep {
 public:
  /// Throws Error(usage) for an unsupported model, file, loss, precision, optimizer or input, and
  /// Error(device) if LibTorch cannot use the device.
  explicit ModelStep(const ModelStepRequest& request);
  ~ModelStep() override;
  ModelStep(const ModelStep&) = delete;
  ModelStep& operator=(const ModelStep&) = delete;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::vector<ExpectedField> expects() const override { return expects_; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override;
  void step(const DeviceBatch& batch, const StepContext& context) override;
  /// None with a CUDA graph, which runs the whole step at once.
  [[nodiscard]] std::vector<StepPart> parts() const override;
  std::optional<double> loss() override;
  bool snapshot() override;
  void restore() override;
  void restore_process() noexcept override;
  void release_memory() override;
  [[nodiscard]] StepLibraries libraries() const override;
  [[nodiscard]] std::unique_ptr<StepProfiler> make_profiler(
      const StepProfilerOptions& options) override;

 private:
  void make_model(const ModelStepRequest& request);
  void train_on(const StepTensors& batch, StepPartObserver* observer);
  [[nodiscard]] StepTensors tensors_of(const DeviceBatch& batch) const;
  at::Tensor forward(const StepTensors& batch);
  void update();
  void keep_weights();
  void restore_weights();
  [[nodiscard]] std::vector<at::Tensor> state() const;

  TrainSpec spec_;
  Loss loss_function_;
  std::optional<c10::ScalarType> mixed_;
  ThreadCount threads_;
  BackendSettings settings_;
  c10::Device device_;
  c10::Stream stream_;  // of the latest step
  std::vector<ExpectedField> expects_;
  std::unique_ptr<Model> model_;
  ImageOrder order_ = ImageOrder::unchanged;
  std::optional<Optimizer> optimizer_;
  std::optional<GradScaler> scaler_;
  std::optional<RecordedStep> recorded_;  // with train.cuda_graph
  int accumulated_ = 0;                   // batches since the optimizer's latest step
  at::Tensor loss_;
  std::vector<at::Tensor> kept_;  // copies made by snapshot(), in the order of state()
  std::vector<at::Tensor> kept_gradients_;
  int kept_accumulated_ = 0;
};

}  // namespace cachebisect::torch_module
