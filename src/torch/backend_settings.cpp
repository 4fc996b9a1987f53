#include "backend_settings.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

namespace cachebisect::torch_module {

BackendSettings::Values BackendSettings::now() {
  const at::Context& context = at::globalContext();
  return {context.benchmarkCuDNN(), context.allowTF32CuDNN(), context.allowTF32CuBLAS()};
}

void BackendSettings::set(const Values& values) {
  at::Context& context = at::globalContext();
  context.setBenchmarkCuDNN(values.cudnn_benchmark);
  context.setAllowTF32CuDNN(values.cudnn_tf32);
  context.setAllowTF32CuBLAS(values.matmul_tf32);
}

void BackendSettings::take() {
  if (before_) return;
  before_ = now();
  set({cudnn_benchmark_, tf32_.value_or(before_->cudnn_tf32),
       tf32_.value_or(before_->matmul_tf32)});
}

void BackendSettings::give_back() noexcept {
  if (before_) set(*before_);
  before_.reset();
}

void ThreadCount::take() {
  // Setting the number clears LibTorch's cache of kernels, so it is left alone if it is right.
  if (own_ < 1 || at::get_num_threads() == own_) return;
  before_ = at::get_num_threads();
  at::set_num_threads(own_);
}

void ThreadCount::give_back() noexcept {
  if (before_ && at::get_num_threads() == own_) at::set_num_threads(*before_);
  before_.reset();
}

}  // namespace cachebisect::torch_module
