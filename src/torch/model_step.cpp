#include "model_step.hpp"

#include <exception>
#include <filesystem>
#include <utility>

#include "autocast.hpp"
#include "backend.hpp"
#include "error_text.hpp"
#include "expectations.hpp"
#include "network.hpp"
#include "request_check.hpp"
#include "saved_file.hpp"
#include "step_profiler.hpp"
#include "trial.hpp"
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>

#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

bool is_module(const TrainSpec& train) { return train.kind == TrainSpec::Kind::module; }

std::string short_name(const TrainSpec& train) {
  return is_module(train) ? std::filesystem::path(train.module).filename().string() : train.model;
}

}  // namespace

ModelStep::ModelStep(const ModelStepRequest& request)
    : spec_(checked(request).train),
      loss_function_(spec_.loss),
      mixed_(mixed_dtype(spec_.precision)),
      threads_(request.threads),
      settings_(spec_),
      device_(open_device(request)),
      stream_(as_torch_stream(device_, request.stream)) {
  // What the steps free is then found again in the same pool.
  const c10::StreamGuard guard(stream_);
  make_model(request);
  if (spec_.memory_format == "channels_last") make_channels_last(*model_);
  if (model_->trains()) optimizer_.emplace(spec_.optimizer, model_->parameters());
  if (spec_.precision == "fp16-mixed") scaler_.emplace(device_);
  if (spec_.cuda_graph) recorded_.emplace(open_cuda_graph());
  // A step may come on another stream, which does not wait for the copies of the weights.
  stream_.synchronize();
}

void ModelStep::make_model(const ModelStepRequest& request) {
  if (is_module(spec_)) {
    expects_ = module_fields(request);
    model_ = load_model(spec_.module, spec_.inputs);
    if (!model_->trains()) check_forward_alone(spec_);
    model_->to(device_);
    order_ = try_batch(*model_, loss_function_, request, device_);
    return;
  }
  expects_ = expected_fields(request, image_input(spec_.model));
  model_ = std::make_unique<Network>(spec_.model, spec_.classes, request.seed);
  model_->to(device_);
  spec_.inputs = {"image"};
  spec_.target = "label";
  if (spec_.memory_format == "channels_last") {
    order_ = expects_[0].layout == "NHWC" ? ImageOrder::viewed : ImageOrder::converted;
  }
}

ModelStep::~ModelStep() = default;

StepLibraries ModelStep::libraries() const { return library_versions(device_); }

std::unique_ptr<StepProfiler> ModelStep::make_profiler(const StepProfilerOptions& options) {
  return make_step_profiler(options, device_.is_cuda());
}

std::vector<DeviceKind> ModelStep::devices() const {
  return {device_.is_cuda() ? DeviceKind::cuda : DeviceKind::cpu};
}

std::string ModelStep::name() const { return short_name(spec_) + " " + spec_.precision; }

std::string ModelStep::description() const {
  std::string text = short_name(spec_);
  if (!model_->trains()) {
    text += " (exported package, forward pass alone), " + spec_.loss;
  } else {
    if (is_module(spec_)) text += " (TorchScript), " + spec_.loss;
    text += ", " + spec_.optimizer.kind + ", " + spec_.precision;
  }
  if (order_ == ImageOrder::viewed) text += ", channels_last";
  if (order_ == ImageOrder::converted) text += ", channels_last (each batch copied from NCHW)";
  if (spec_.accumulate > 1) text += ", accumulate " + std::to_string(spec_.accumulate);
  if (spec_.cudnn_benchmark) text += ", cudnn_benchmark";
  if (spec_.cuda_graph) text += ", cuda_graph";
  if (spec_.tf32) text += *spec_.tf32 ? ", tf32" : ", no tf32";
  return text;
}

void ModelStep::step(const DeviceBatch& batch, const StepContext& context) {
  stream_ = as_torch_stream(device_, context.stream);
  const c10::StreamGuard guard(stream_);
  const FlushDenormals flush;
  threads_.take();
  settings_.take();
  in_libtorch("failed at step " + std::to_string(context.index), [&] {
    const StepTensors tensors = tensors_of(batch);
    if (!recorded_) return train_on(tensors, context.observer);
    recorded_->step(tensors, [this](const StepTensors& held) { train_on(held, nullptr); });
  });
}

std::vector<StepPart> ModelStep::parts() const {
  if (recorded_) return {};
  if (!model_->trains()) return {StepPart::forward};
  return {StepPart::forward, StepPart::backward, StepPart::optimizer};
}

StepTensors ModelStep::tensors_of(const DeviceBatch& batch) const {
  StepTensors tensors;
  for (const std::string& field : spec_.inputs) {
    tensors.inputs.push_back(wrap(batch.tensor(field), device_));
  }
  if (loss_function_.has_target()) tensors.target = wrap(batch.tensor(spec_.target), device_);
  return tensors;
}

at::Tensor ModelStep::forward(const StepTensors& batch) {
  std::vector<at::Tensor> inputs;
  for (const at::Tensor& input : batch.inputs) inputs.push_back(ordered(input, order_));
  const AutocastScope autocast(device_.type(), mixed_);
  return loss_function_(model_->forward(inputs), batch.target);
}

void ModelStep::train_on(const StepTensors& batch, StepPartObserver* observer) {
  const auto ended = [observer](StepPart part) {
    if (observer != nullptr) observer->part_ended(part);
  };
  const at::AutoGradMode with_gradients(model_->trains());
  const at::Tensor loss = forward(batch);
  loss_ = loss.detach();
  ended(StepPart::forward);
  if (!model_->trains()) return;
  if (accumulated_ == 0) optimizer_->clear_gradients();
  at::Tensor scaled = spec_.accumulate > 1 ? loss.div(spec_.accumulate) : loss;
  if (scaler_) scaled = scaler_->scale(scaled);
  scaled.backward();
  ended(StepPart::backward);
  if (++accumulated_ < spec_.accumulate) return;
  accumulated_ = 0;
  update();
  ended(StepPart::optimizer);
}

void ModelStep::update() {
  if (!scaler_) return optimizer_->step();
  const at::Tensor found_inf = scaler_->unscale(optimizer_->gradients());
  optimizer_->step(found_inf);
  scaler_->update(found_inf);
}

std::optional<double> ModelStep::loss() {
  if (!loss_.defined()) return std::nullopt;
  const c10::StreamGuard guard(stream_);
  return in_libtorch("reading the loss", [&] { return loss_.item().toDouble(); });
}

std::vector<at::Tensor> ModelStep::state() const {
  std::vector<at::Tensor> all;
  std::vector<std::vector<at::Tensor>> parts{
      model_->parameters(), model_->buffers(),
      optimizer_ ? optimizer_->state() : std::vector<at::Tensor>{}};
  if (scaler_) parts.push_back(scaler_->state());
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

bool ModelStep::snapshot() {
  in_libtorch("copying the weights", [&] { keep_weights(); });
  return true;
}

void ModelStep::keep_weights() {
  const c10::NoGradGuard no_grad;
  const c10::StreamGuard guard(stream_);
  kept_.clear();
  for (const at::Tensor& tensor : state()) kept_.push_back(tensor.clone());
  kept_accumulated_ = accumulated_;
  kept_gradients_.clear();
  if (accumulated_ > 0) kept_gradients_ = optimizer_->copy_gradients();
  stream_.synchronize();
}

void ModelStep::restore() {
  if (kept_.empty() && model_->trains()) {
    throw Error(ErrorKind::internal, "restore() of a training step without a snapshot()");
  }
  in_libtorch("restoring the weights", [&] { restore_weights(); });
}

void ModelStep::restore_weights() {
  const c10::NoGradGuard no_grad;
  const c10::StreamGuard guard(stream_);
  const std::vector<at::Tensor> now = state();
  for (std::size_t i = 0; i < now.size(); ++i) now[i].copy_(kept_[i]);
  accumulated_ = kept_accumulated_;
  if (accumulated_ > 0) optimizer_->set_gradients(kept_gradients_);
  stream_.synchronize();
}

void ModelStep::release_memory() {
  if (!device_.is_cuda()) return;
  in_libtorch("emptying LibTorch's cache",
              [] { c10::getDeviceAllocator(c10::kCUDA)->emptyCache(); });
}

void ModelStep::restore_process() noexcept {
  threads_.give_back();
  settings_.give_back();
}

}  // namespace cachebisect::torch_module
