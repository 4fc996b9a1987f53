#include "backend_settings.hpp"

#include <ATen/Context.h>

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

}  // namespace cachebisect::torch_module
