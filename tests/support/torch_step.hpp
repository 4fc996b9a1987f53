// Training steps of the LibTorch module, opened as make_model_step() opens it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include <dlfcn.h>
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::test {

inline constexpr const char* kTorchModule = CACHEBISECT_BINARY_DIR "/lib/libcachebisect_torch.so";

/// Also before any test runs, unlike those below.
inline bool has_torch_module() { return std::filesystem::exists(kTorchModule); }

/// Null if this build has no LibTorch module.
inline const TorchModule* loaded_torch_module() {
  if (!has_torch_module()) return nullptr;
  void* library = dlopen(kTorchModule, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) FAIL(dlerror());
  auto entry =
      reinterpret_cast<const TorchModule* (*)()>(dlsym(library, "cachebisect_torch_module"));
  REQUIRE(static_cast<bool>(entry));
  return entry();
}

#define REQUIRE_MODULE(module)                             \
  const TorchModule* const module = loaded_torch_module(); \
  if ((module) == nullptr) {                               \
    MESSAGE("skipped: this build has no LibTorch module"); \
    return;                                                \
  }                                                        \
  static_assert(true)

struct StepDeleter {
  const TorchModule* module;
  void operator()(TrainStep* step) const { module->destroy_step(step); }
};
using StepPointer = std::unique_ptr<TrainStep, StepDeleter>;

inline StepPointer make_step(const TorchModule* module, const ModelStepRequest& request) {
  return {module->make_step(request), StepDeleter{module}};
}

/// Images whose brightness pattern depends on the class, with labels.
class ToyBatch {
 public:
  ToyBatch(Shape image_shape, std::int64_t classes, std::uint64_t seed) {
    const std::int64_t size = image_shape[0];
    const std::int64_t numbers = image_shape.elements() / size;
    images.resize(static_cast<std::size_t>(image_shape.elements()));
    labels.resize(static_cast<std::size_t>(size));
    RandomStream random({.seed = seed});
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t label = i % classes;
      labels[static_cast<std::size_t>(i)] = label;
      for (std::int64_t j = 0; j < numbers; ++j) {
        const bool bright = (j * classes / numbers) == label;
        images[static_cast<std::size_t>(i * numbers + j)] =
            static_cast<float>((bright ? 1.0 : 0.0) + 0.1 * random.normal());
      }
    }
    batch.size = size;
    batch.fields = {
        {"image",
         dense_view(reinterpret_cast<std::byte*>(images.data()), DType::float32, image_shape)},
        {"label", dense_view(reinterpret_cast<std::byte*>(labels.data()), DType::int64, {size})}};
  }
  ToyBatch(const ToyBatch&) = delete;
  ToyBatch& operator=(const ToyBatch&) = delete;

  [[nodiscard]] BatchSpec spec() const {
    BatchSpec spec;
    for (const BatchField& field : batch.fields) {
      spec.push_back({field.name, field.tensor.dtype, field.tensor.shape});
    }
    return spec;
  }

  std::vector<float> images;
  std::vector<std::int64_t> labels;
  DeviceBatch batch;
};

inline ModelStepRequest request_for(const ToyBatch& toy, const std::string& model,
                                    const OptimizerSpec& optimizer,
                                    const std::string& precision = "fp32") {
  ModelStepRequest request;
  request.train.kind = TrainSpec::Kind::model;
  request.train.model = model;
  request.train.classes = 10;
  request.train.optimizer = optimizer;
  request.train.precision = precision;
  request.input = toy.spec();
  return request;
}

/// The losses of steps on one batch, a ToyBatch or a TensorBatch.
template <class Toy>
std::vector<double> losses(TrainStep& step, const Toy& toy, int steps) {
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) {
    step.step(toy.batch, {.index = static_cast<std::uint64_t>(i)});
    all.push_back(step.loss().value());
  }
  return all;
}

inline std::string step_refusal(const TorchModule* module, const ModelStepRequest& request) {
  return usage_error([&] { make_step(module, request); });
}

}  // namespace cachebisect::test
