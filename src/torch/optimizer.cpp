#include "optimizer.hpp"

#include <string>
#include <utility>

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::torch_module {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;

std::vector<at::Tensor> zeros_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> zeros;
  zeros.reserve(parameters.size());
  for (const at::Tensor& parameter : parameters) zeros.push_back(at::zeros_like(parameter));
  return zeros;
}

void append(std::vector<at::Tensor>& all, const std::vector<at::Tensor>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

void require_range(bool inside, const std::string& name, double value, const std::string& range) {
  if (inside) return;
  throw Error(ErrorKind::usage, "train.optimizer." + name + ": " + format_exact(value) +
                                    " is out of range; it must be " + range);
}

using OptionalTensor = std::optional<at::Tensor>;
/// at::_fused_adam_ and at::_fused_adamw_.
using FusedAdam = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                           at::TensorList, at::TensorList, double, double, double, double, double,
                           bool, bool, const OptionalTensor&, const OptionalTensor&);

}  // namespace

Optimizer::Kind Optimizer::parse(const OptimizerSpec& spec) {
  require_range(spec.lr >= 0, "lr", spec.lr, "at least 0");
  require_range(spec.momentum >= 0 && spec.momentum < 1, "momentum", spec.momentum, "in [0, 1)");
  require_range(spec.weight_decay >= 0, "weight_decay", spec.weight_decay, "at least 0");
  if (spec.kind == "sgd") return Kind::sgd;
  if (spec.kind == "adam") return Kind::adam;
  if (spec.kind == "adamw") return Kind::adamw;
  throw Error(ErrorKind::usage, "train.optimizer.kind: there is no optimizer \"" + spec.kind +
                                    "\"; known are sgd, adam, adamw");
}

Optimizer::Optimizer(const OptimizerSpec& spec, std::vector<at::Tensor> parameters)
    : spec_(spec), kind_(parse(spec)), parameters_(std::move(parameters)) {
  const c10::NoGradGuard no_grad;
  if (kind_ != Kind::sgd || spec_.momentum > 0) first_moments_ = zeros_of(parameters_);
  if (kind_ == Kind::sgd) return;
  second_moments_ = zeros_of(parameters_);
  for (const at::Tensor& parameter : parameters_) {
    steps_.push_back(at::zeros({}, parameter.options().dtype(at::kFloat)));
  }
}

void Optimizer::step(const std::optional<at::Tensor>& found_inf) {
  const c10::NoGradGuard no_grad;
  const auto parameters = with_gradient(parameters_);
  if (parameters.empty()) return;
  const auto first = with_gradient(first_moments_);
  if (kind_ == Kind::sgd) {
    // Momentum buffers start at zero, so the first step is the gradient itself.
    at::_fused_sgd_(parameters, gradients(), first, spec_.weight_decay, spec_.momentum, spec_.lr,
                    /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false, /*grad_scale=*/{}, found_inf);
    return;
  }
  const auto second = with_gradient(second_moments_);
  const auto steps = with_gradient(steps_);
  at::_foreach_add_(steps, 1);
  const FusedAdam update =
      kind_ == Kind::adam ? FusedAdam(at::_fused_adam_) : FusedAdam(at::_fused_adamw_);
  update(parameters, gradients(), first, second, /*max_exp_avg_sqs=*/{}, steps, spec_.lr, kBeta1,
         kBeta2, spec_.weight_decay, kEpsilon, /*amsgrad=*/false, /*maximize=*/false,
         /*grad_scale=*/{}, found_inf);
  if (found_inf) at::_foreach_add_(steps, found_inf->squeeze(), -1);
}

std::vector<at::Tensor> Optimizer::with_gradient(const std::vector<at::Tensor>& all) const {
  std::vector<at::Tensor> some;
  some.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (parameters_[i].grad().defined()) some.push_back(all[i]);
  }
  return some;
}

std::vector<at::Tensor> Optimizer::gradients() const {
  std::vector<at::Tensor> all;
  all.reserve(parameters_.size());
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) all.push_back(parameter.grad());
  }
  return all;
}

std::vector<at::Tensor> Optimizer::copy_gradients() const {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& parameter : parameters_) {
    copies.push_back(parameter.grad().defined() ? parameter.grad().clone() : at::Tensor());
  }
  return copies;
}

void Optimizer::set_gradients(const std::vector<at::Tensor>& copies) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].mutable_grad() = copies[i].defined() ? copies[i].clone() : at::Tensor();
  }
}

void Optimizer::clear_gradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

std::vector<at::Tensor> Optimizer::state() const {
  std::vector<at::Tensor> all;
  append(all, first_moments_);
  append(all, second_moments_);
  append(all, steps_);
  return all;
}

}  // namespace cachebisect::torch_module
