#include "grad_scaler.hpp"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

namespace cachebisect::torch_module {
namespace {

constexpr double kInitialScale = 65536;
constexpr double kGrowth = 2;
constexpr double kBackoff = 0.5;
constexpr std::int64_t kGrowthInterval = 2000;

}  // namespace

GradScaler::GradScaler(const c10::Device& device)
    : scale_(at::full({1}, kInitialScale, at::TensorOptions().dtype(at::kFloat).device(device))),
      growth_tracker_(at::zeros({1}, at::TensorOptions().dtype(at::kInt).device(device))) {}

at::Tensor GradScaler::scale(const at::Tensor& loss) const { return at::mul(loss, scale_); }

at::Tensor GradScaler::unscale(const std::vector<at::Tensor>& gradients) {
  const c10::NoGradGuard no_grad;
  at::Tensor found_inf = at::zeros({1}, scale_.options());
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, scale_.reciprocal());
  return found_inf;
}

void GradScaler::update(const at::Tensor& found_inf) {
  const c10::NoGradGuard no_grad;
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf, kGrowth, kBackoff, kGrowthInterval);
}

}  // namespace cachebisect::torch_module
