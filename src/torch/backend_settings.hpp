// LibTorch's settings of the process, for as long as one training step needs them.
#pragma once

#include <optional>

#include "cachebisect/pipeline/pipeline_spec.hpp"

namespace cachebisect::torch_module {

/// Settings of cuDNN and cuBLAS. They are process-wide: take() before a step, give_back() before
/// another step runs.
class BackendSettings {
 public:
  explicit BackendSettings(const TrainSpec& train)
      : cudnn_benchmark_(train.cudnn_benchmark), tf32_(train.tf32) {}
  ~BackendSettings() { give_back(); }
  BackendSettings(const BackendSettings&) = delete;
  BackendSettings& operator=(const BackendSettings&) = delete;

  /// Sets what the step asks for, unless it is set already.
  void take();
  /// Restores what was set before take().
  void give_back() noexcept;

 private:
  struct Values {
    bool cudnn_benchmark = false;
    bool cudnn_tf32 = true;
    bool matmul_tf32 = false;
  };
  static Values now();
  static void set(const Values& values);

  bool cudnn_benchmark_;
  std::optional<bool> tf32_;
  std::optional<Values> before_;
};

/// The number of threads is process-wide, and kept per thread by OpenMP: take() and give_back()
/// must be called from the training thread.
class ThreadCount {
 public:
  /// `own` below 1: leaves LibTorch's number as it is.
  explicit ThreadCount(int own) noexcept : own_(own) {}
  ~ThreadCount() { give_back(); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

  /// Sets the number if it is not set yet.
  void take();
  /// Restores what the number was before take(), unless another owner has changed it since.
  void give_back() noexcept;

 private:
  int own_;
  std::optional<int> before_;
};

}  // namespace cachebisect::torch_module
