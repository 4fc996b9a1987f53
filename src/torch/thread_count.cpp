#include "thread_count.hpp"

#include <ATen/Parallel.h>

namespace cachebisect::torch_module {

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
