// The training step of a built-in LibTorch model: forward, loss, backward, optimizer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "network.hpp"
#include "optimizer.hpp"
#include "thread_count.hpp"
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// Reads the fields `image` [N, C, H, W] (float32; bfloat16 and float16 too with bf16-mixed) and
/// `label` (int64 [N], or float32 one-hot [N, classes]) in place, without copying. LibTorch's
/// number of threads, which is process-wide, is that of the request from the first step() to
/// restore_process(). Not thread safe.
class ModelStep final : public TrainStep {
 public:
  /// Throws Error(usage) for an unsupported model, loss, precision, optimizer or input, and
  /// Error(device) if LibTorch cannot use the device.
  explicit ModelStep(const ModelStepRequest& request);
  ~ModelStep() override;
  ModelStep(const ModelStep&) = delete;
  ModelStep& operator=(const ModelStep&) = delete;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<ExpectedField> expects() const override { return expects_; }
  void step(const DeviceBatch& batch, const StepContext& context) override;
  std::optional<double> loss() override;
  bool snapshot() override;
  void restore() override;
  void restore_process() noexcept override { threads_.give_back(); }

 private:
  void train_on(const at::Tensor& images, const at::Tensor& labels);
  [[nodiscard]] std::vector<at::Tensor> state() const;

  TrainSpec spec_;
  std::vector<ExpectedField> expects_;
  bool mixed_;
  ThreadCount threads_;
  c10::Device device_;
  c10::Stream stream_;  // of the latest step
  Network network_;
  Optimizer optimizer_;
  at::Tensor loss_;
  std::vector<at::Tensor> kept_;  // copies made by snapshot(), in the order of state()
};

}  // namespace cachebisect::torch_module
