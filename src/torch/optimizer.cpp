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
  gradients_.resize(parameters_.size());
  if (kind_ != Kind::sgd || spec_.momentum > 0) first_moments_ = zeros_of(parameters_);
  if (kind_ == Kind::sgd) return;
  second_moments_ = zeros_of(parameters_);
  for (const at::Tensor& parameter : parameters_) {
    steps_.push_back(at::zeros({}, parameter.options().dtype(at::kFloat)));
  }
}

void Optimizer::step() {
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) gradients_[i] = parameters_[i].grad();
  if (kind_ == Kind::sgd) {
    // Momentum buffers start at zero, so the first step is the gradient itself.
    at::_fused_sgd_(parameters_, gradients_, first_moments_, spec_.weight_decay, spec_.momentum,
                    spec_.lr, /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false);
    return;
  }
  at::_foreach_add_(steps_, 1);
  if (kind_ == Kind::adam) {
    at::_fused_adam_(parameters_, gradients_, first_moments_, second_moments_, {}, steps_, spec_.lr,
                     kBeta1, kBeta2, spec_.weight_decay, kEpsilon, /*amsgrad=*/false,
                     /*maximize=*/false);
  } else {
    at::_fused_adamw_(parameters_, gradients_, first_moments_, second_moments_, {}, steps_,
                      spec_.lr, kBeta1, kBeta2, spec_.weight_decay, kEpsilon, /*amsgrad=*/false,
                      /*maximize=*/false);
  }
}

void Optimizer::clear_gradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  for (at::Tensor& gradient : gradients_) gradient.reset();
}

std::vector<at::Tensor> Optimizer::state() const {
  std::vector<at::Tensor> all;
  append(all, first_moments_);
  append(all, second_moments_);
  append(all, steps_);
  return all;
}

}  // namespace cachebisect::torch_module
