#include "model_step.hpp"

#include <exception>
#include <utility>

#include "autocast.hpp"
#include "backend.hpp"
#include "expectations.hpp"
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>

#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

c10::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return c10::kFloat;
    case DType::bfloat16:
      return c10::kBFloat16;
    case DType::float16:
      return c10::kHalf;
    case DType::int64:
      return c10::kLong;
    default:
      throw Error(ErrorKind::internal,
                  "a field of dtype " + std::string(to_string(dtype)) + " reached the model");
  }
}

/// A tensor that refers to the batch's own memory, without a copy.
at::Tensor wrap(const TensorView& view, const c10::Device& device) {
  const std::size_t rank = view.shape.rank();
  return at::from_blob(view.data, {view.shape.dims().data(), rank}, {view.strides.data(), rank},
                       at::TensorOptions().dtype(scalar_type(view.dtype)).device(device));
}

/// Checks everything in the request that needs no LibTorch.
const ModelStepRequest& checked(const ModelStepRequest& request) {
  const TrainSpec& train = request.train;
  if (train.classes < 1) {
    throw Error(ErrorKind::usage, "train.classes: " + std::to_string(train.classes) +
                                      " is out of range; it must be at least 1");
  }
  if (train.loss != "cross_entropy") {
    throw Error(ErrorKind::usage,
                "train.loss: there is no loss \"" + train.loss + "\"; known is cross_entropy");
  }
  if (train.precision != "fp32" && train.precision != "bf16-mixed") {
    throw Error(ErrorKind::usage, "train.precision: there is no precision \"" + train.precision +
                                      "\"; known are fp32, bf16-mixed");
  }
  if (request.device == DeviceKind::emulated) {
    throw Error(ErrorKind::usage,
                "a model does not run on the emulated device; train.kind emulated does");
  }
  return request;
}

std::string first_line(const char* text) {
  const std::string whole(text);
  return whole.substr(0, whole.find('\n'));
}

}  // namespace

ModelStep::ModelStep(const ModelStepRequest& request)
    : spec_(checked(request).train),
      expects_(expected_fields(request, image_input(spec_.model))),
      mixed_(spec_.precision == "bf16-mixed"),
      threads_(request.threads),
      device_(open_device(request)),
      stream_(as_torch_stream(device_, nullptr)),
      network_(spec_.model, spec_.classes, request.seed),
      optimizer_([&] {
        network_.to(device_);
        return Optimizer(spec_.optimizer, network_.parameters());
      }()) {
  // Our streams do not wait for the default stream, on which the weights were copied.
  stream_.synchronize();
}

ModelStep::~ModelStep() = default;

std::string ModelStep::name() const { return spec_.model + " " + spec_.precision; }

void ModelStep::step(const DeviceBatch& batch, const StepContext& context) {
  stream_ = as_torch_stream(device_, context.stream);
  const c10::StreamGuard guard(stream_);
  const FlushDenormals flush;
  threads_.take();
  try {
    train_on(wrap(batch.tensor("image"), device_), wrap(batch.tensor("label"), device_));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::data, "the training step (" + name() + ") failed at step " +
                                     std::to_string(context.index) + ": " +
                                     first_line(error.what()));
  }
}

void ModelStep::train_on(const at::Tensor& images, const at::Tensor& labels) {
  const at::AutoGradMode with_gradients(true);
  at::Tensor loss;
  {
    const AutocastScope autocast(device_.type(), mixed_);
    loss = at::cross_entropy_loss(network_.forward(images), labels);
  }
  optimizer_.clear_gradients();
  loss.backward();
  optimizer_.step();
  loss_ = loss.detach();
}

std::optional<double> ModelStep::loss() {
  if (!loss_.defined()) return std::nullopt;
  const c10::StreamGuard guard(stream_);
  return loss_.item().toDouble();
}

std::vector<at::Tensor> ModelStep::state() const {
  std::vector<at::Tensor> all;
  for (const auto& part : {network_.parameters(), network_.buffers(), optimizer_.state()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

bool ModelStep::snapshot() {
  const c10::NoGradGuard no_grad;
  const c10::StreamGuard guard(stream_);
  kept_.clear();
  for (const at::Tensor& tensor : state()) kept_.push_back(tensor.clone());
  stream_.synchronize();
  return true;
}

void ModelStep::restore() {
  if (kept_.empty()) {
    throw Error(ErrorKind::internal, "restore() of a training step without a snapshot()");
  }
  const c10::NoGradGuard no_grad;
  const c10::StreamGuard guard(stream_);
  const std::vector<at::Tensor> now = state();
  for (std::size_t i = 0; i < now.size(); ++i) now[i].copy_(kept_[i]);
  stream_.synchronize();
}

}  // namespace cachebisect::torch_module
