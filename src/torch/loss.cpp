#include "loss.hpp"

#include <sstream>
#include <stdexcept>

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/l1_loss.h>
#include <ATen/ops/mse_loss.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

}  // namespace

Loss::Kind Loss::parse(const std::string& name) {
  if (name == "cross_entropy") return Kind::cross_entropy;
  if (name == "mse") return Kind::mse;
  if (name == "l1") return Kind::l1;
  if (name == "bce_with_logits") return Kind::bce_with_logits;
  if (name == "output") return Kind::output;
  throw Error(ErrorKind::usage, "train.loss: there is no loss \"" + name +
                                    "\"; known are cross_entropy, mse, l1, bce_with_logits, "
                                    "output");
}

Loss::Loss(const std::string& name) : name_(name), kind_(parse(name)) {}

at::Tensor Loss::operator()(const at::Tensor& output, const at::Tensor& target) const {
  if (kind_ == Kind::output) {
    if (output.numel() == 1) return output.reshape({});
    throw std::runtime_error("loss \"output\" needs one number from forward(), and it returns " +
                             shape_text(output));
  }
  if (kind_ == Kind::cross_entropy) return at::cross_entropy_loss(output, target);
  // These broadcast, which is hardly ever meant.
  if (output.sizes() != target.sizes()) {
    throw std::runtime_error("loss \"" + name_ + "\" needs a target of the output's shape " +
                             shape_text(output) + ", and it has " + shape_text(target));
  }
  if (kind_ == Kind::mse) return at::mse_loss(output, target);
  if (kind_ == Kind::l1) return at::l1_loss(output, target);
  return at::binary_cross_entropy_with_logits(output, target);
}

}  // namespace cachebisect::torch_module
