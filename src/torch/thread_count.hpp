// LibTorch's number of threads, for as long as one training step needs it.
#pragma once

#include <optional>

namespace cachebisect::torch_module {

/// The number is process-wide, and kept per thread by OpenMP: take() and give_back() must be called
/// from the training thread.
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
