#include "trial.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "autocast.hpp"
#include "error_text.hpp"
#include "expectations.hpp"
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

/// Restores a model's buffers when the scope ends.
class KeptBuffers {
 public:
  explicit KeptBuffers(const Model& model) : buffers_(model.buffers()) {
    for (const at::Tensor& buffer : buffers_) copies_.push_back(buffer.clone());
  }
  ~KeptBuffers() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(copies_[i]);
  }
  KeptBuffers(const KeptBuffers&) = delete;
  KeptBuffers& operator=(const KeptBuffers&) = delete;

 private:
  std::vector<at::Tensor> buffers_;
  std::vector<at::Tensor> copies_;
};

at::Tensor zeros_like(const FieldSpec& field, const c10::Device& device) {
  const auto& dims = field.shape.dims();
  return at::zeros({dims.data(), field.shape.rank()},
                   at::TensorOptions().dtype(scalar_type(field.dtype)).device(device));
}

std::string text_of(const FieldSpec& field) {
  return field.name + " " + std::string(to_string(field.dtype)) + " " + field.shape.to_string();
}

std::string remedy(const std::vector<FieldSpec>& inputs) {
  const bool bytes = std::any_of(inputs.begin(), inputs.end(), [](const FieldSpec& field) {
    return field.dtype == DType::uint8 && field.shape.rank() == 4;
  });
  if (bytes) {
    return "add augment.to_float before collate or device.to_float after the copy, or save a "
           "model that takes bytes";
  }
  return "resize, crop or cast to what the model takes, set collate's layout (NCHW or NHWC), or "
         "name other fields in train.inputs and train.target";
}

/// The fields of the chain that a step uses: inputs, and the target if the loss has one.
struct Fields {
  Fields(const ModelStepRequest& request, const Loss& loss) {
    for (const std::string& name : request.train.inputs) inputs.push_back(arriving(request, name));
    if (loss.has_target()) target = arriving(request, request.train.target);
  }
  [[nodiscard]] bool are_static() const {
    return std::all_of(inputs.begin(), inputs.end(),
                       [](const FieldSpec& field) { return field.shape.is_static(); }) &&
           (!target || target->shape.is_static());
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const FieldSpec& field : inputs) all += (all.empty() ? "" : ", ") + text_of(field);
    return target ? all + ", target " + text_of(*target) : all;
  }

  std::vector<FieldSpec> inputs;
  std::optional<FieldSpec> target;
};

/// Why the model does not take the fields; empty if it does.
std::optional<std::string> failure(Model& model, const Loss& loss, const Fields& fields,
                                   ImageOrder order, const c10::Device& device) {
  std::vector<at::Tensor> inputs;
  for (const FieldSpec& field : fields.inputs) {
    inputs.push_back(ordered(zeros_like(field, device), order));
  }
  const at::Tensor target = fields.target ? zeros_like(*fields.target, device) : at::Tensor();
  try {
    (void)loss(model.forward(inputs), target);
    return std::nullopt;
  } catch (const std::exception& error) {
    return reason_of(error);
  }
}

}  // namespace

ImageOrder try_batch(Model& model, const Loss& loss, const ModelStepRequest& request,
                     const c10::Device& device) {
  const Fields fields(request, loss);
  std::vector<ImageOrder> orders{ImageOrder::unchanged};
  if (request.train.memory_format == "channels_last") {
    orders = {ImageOrder::converted, ImageOrder::viewed};
  }
  if (!fields.are_static()) {
    if (model.trains()) return orders.front();
    throw Error(ErrorKind::usage, "train.module: " + request.train.module +
                                      " is compiled for known shapes, and the chain gives " +
                                      fields.text() + "; resize or crop before collate");
  }
  const c10::NoGradGuard no_grad;
  const KeptBuffers kept(model);
  const AutocastScope autocast(device.type(), mixed_dtype(request.train.precision));
  std::string first_failure;
  for (const ImageOrder order : orders) {
    const auto why = failure(model, loss, fields, order, device);
    if (!why) return order;
    if (first_failure.empty()) first_failure = *why;
  }
  throw Error(ErrorKind::usage, "train.module: " + request.train.module +
                                    " does not take what the chain gives, " + fields.text() + ": " +
                                    first_failure + "; " + remedy(fields.inputs));
}

}  // namespace cachebisect::torch_module
