// The LibTorch module, opened as make_model_step() opens it. Skipped if it was not built.
#include <cmath>
#include <filesystem>
#include <memory>
#include <vector>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <dlfcn.h>
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/train/train_step.hpp"

using namespace cachebisect;
using test::has;

namespace {

const TorchModule* torch_module() {
  const std::string path = CACHEBISECT_BINARY_DIR "/lib/libcachebisect_torch.so";
  if (!std::filesystem::exists(path)) return nullptr;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) FAIL(dlerror());
  auto entry =
      reinterpret_cast<const TorchModule* (*)()>(dlsym(library, "cachebisect_torch_module"));
  REQUIRE(static_cast<bool>(entry));
  return entry();
}

#define REQUIRE_MODULE(module)                             \
  const TorchModule* const module = torch_module();        \
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

StepPointer make_step(const TorchModule* module, const ModelStepRequest& request) {
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

ModelStepRequest request_for(const ToyBatch& toy, const std::string& model,
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

std::vector<double> losses(TrainStep& step, const ToyBatch& toy, int steps) {
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) {
    step.step(toy.batch, {.index = static_cast<std::uint64_t>(i)});
    all.push_back(step.loss().value());
  }
  return all;
}

std::string refusal(const TorchModule* module, const ModelStepRequest& request) {
  return test::usage_error([&] { make_step(module, request); });
}

const std::vector<OptimizerSpec> kOptimizers{{.kind = "sgd", .lr = 0.02, .momentum = 0.9},
                                             {.kind = "sgd", .lr = 0.1, .weight_decay = 1e-4},
                                             {.kind = "adam", .lr = 0.002},
                                             {.kind = "adamw", .lr = 0.002, .weight_decay = 0.01}};

}  // namespace

TEST_CASE("the module was built against this core") {
  REQUIRE_MODULE(module);
  CHECK(std::string(module->abi) == plugin_abi());
}

TEST_CASE("models have the published numbers of parameters") {
  REQUIRE_MODULE(module);
  CHECK(module->parameter_count("mlp", 10) == 109386);
  CHECK(module->parameter_count("lenet", 10) == 62006);
  CHECK(module->parameter_count("resnet18", 1000) == 11689512);
  CHECK(module->parameter_count("resnet50", 1000) == 25557032);
  CHECK_THROWS_AS(static_cast<void>(module->parameter_count("resnet51", 10)), Error);
}

TEST_CASE("the loss falls on a learnable set, with every optimizer and precision") {
  REQUIRE_MODULE(module);
  const ToyBatch lenet({20, 3, 32, 32}, 10, 1);
  const ToyBatch mlp({20, 1, 28, 28}, 10, 2);
  for (const OptimizerSpec& optimizer : kOptimizers) {
    for (const std::string precision : {"fp32", "bf16-mixed"}) {
      CAPTURE(optimizer.kind);
      CAPTURE(precision);
      for (const auto& [model, toy] :
           {std::pair{std::string("lenet"), &lenet}, std::pair{std::string("mlp"), &mlp}}) {
        CAPTURE(model);
        const auto step = make_step(module, request_for(*toy, model, optimizer, precision));
        const auto curve = losses(*step, *toy, 60);
        CHECK(curve.front() == doctest::Approx(std::log(10.0)).epsilon(0.2));
        CHECK(curve.back() < 0.5 * curve.front());
      }
    }
  }
}

TEST_CASE("residual networks train at any image size") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({10, 3, 40, 56}, 10, 3);
  for (const std::string model : {"resnet18", "resnet50"}) {
    CAPTURE(model);
    const auto step = make_step(module, request_for(toy, model, {.kind = "sgd", .lr = 0.01}));
    const auto curve = losses(*step, toy, 6);
    CHECK(curve.back() < curve.front());
  }
}

TEST_CASE("restore() restores weights and optimizer bit for bit") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({20, 3, 32, 32}, 10, 4);
  for (const OptimizerSpec& optimizer : kOptimizers) {
    CAPTURE(optimizer.kind);
    for (const int steps_before : {0, 3}) {
      const auto step = make_step(module, request_for(toy, "lenet", optimizer));
      losses(*step, toy, steps_before);
      REQUIRE(step->snapshot());
      const auto first = losses(*step, toy, 5);
      step->restore();
      CHECK(losses(*step, toy, 5) == first);
      CHECK(first.front() != first.back());
    }
  }
}

TEST_CASE("each step runs with its own number of threads and restores that of the process") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({8, 1, 28, 28}, 10, 11);
  const int before = module->thread_count();
  auto request = request_for(toy, "mlp", {});
  request.threads = before + 1;
  const auto one = make_step(module, request);
  request.threads = before + 2;
  const auto two = make_step(module, request);
  CHECK(module->thread_count() == before);
  for (int round = 0; round < 2; ++round) {
    losses(*one, toy, 2);
    CHECK(module->thread_count() == before + 1);
    one->restore_process();
    CHECK(module->thread_count() == before);
    losses(*two, toy, 2);
    CHECK(module->thread_count() == before + 2);
    two->restore_process();
    two->restore_process();
    CHECK(module->thread_count() == before);
  }
  losses(*make_step(module, request), toy, 1);
  CHECK(module->thread_count() == before);
}

TEST_CASE("steps keep their weights apart") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({8, 1, 28, 28}, 10, 12);
  const auto one = make_step(module, request_for(toy, "mlp", {}));
  const auto two = make_step(module, request_for(toy, "mlp", {}));
  one->snapshot();
  const auto expected = losses(*one, toy, 3);
  losses(*two, toy, 3);
  two->snapshot();
  one->restore();
  CHECK(losses(*one, toy, 3) == expected);
}

TEST_CASE("running means are restored with the weights") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({8, 3, 32, 32}, 10, 5);
  const auto step = make_step(module, request_for(toy, "resnet18", {.kind = "adam", .lr = 0.001}));
  REQUIRE(step->snapshot());
  const auto first = losses(*step, toy, 2);
  step->restore();
  CHECK(losses(*step, toy, 2) == first);
}

TEST_CASE("equal seeds give equal weights, and different seeds different ones") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({20, 1, 28, 28}, 10, 6);
  auto request = request_for(toy, "mlp", {});
  const auto first = losses(*make_step(module, request), toy, 2);
  CHECK(losses(*make_step(module, request), toy, 2) == first);
  request.seed = 2;
  CHECK(losses(*make_step(module, request), toy, 2) != first);
}

TEST_CASE("a step does not change its batch") {
  REQUIRE_MODULE(module);
  for (const std::string model : {"mlp", "lenet", "resnet18"}) {
    CAPTURE(model);
    const ToyBatch toy(model == "mlp" ? Shape{8, 1, 28, 28} : Shape{8, 3, 32, 32}, 10, 7);
    const auto images = toy.images;
    const auto labels = toy.labels;
    const auto step = make_step(module, request_for(toy, model, {}));
    losses(*step, toy, 2);
    CHECK(toy.images == images);
    CHECK(toy.labels == labels);
  }
}

TEST_CASE("one-hot labels train like integer ones") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({20, 1, 28, 28}, 10, 8);
  const auto expected = losses(*make_step(module, request_for(toy, "mlp", {})), toy, 1).front();

  ToyBatch hot({20, 1, 28, 28}, 10, 8);
  std::vector<float> rows(200, 0.0F);
  for (std::size_t i = 0; i < 20; ++i) rows[i * 10 + static_cast<std::size_t>(hot.labels[i])] = 1;
  hot.batch.fields[1].tensor =
      dense_view(reinterpret_cast<std::byte*>(rows.data()), DType::float32, {20, 10});
  const auto step = make_step(module, request_for(hot, "mlp", {}));
  CHECK(step->expects()[1].layout == "NC");
  CHECK(losses(*step, hot, 1).front() == doctest::Approx(expected).epsilon(1e-5));
}

TEST_CASE("inputs that do not fit are refused with the remedy") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({4, 3, 32, 32}, 10, 9);
  const ModelStepRequest good = request_for(toy, "lenet", {});

  auto bytes = good;
  bytes.input[0].dtype = DType::uint8;
  CHECK(has(refusal(module, bytes), "augment.to_float"));
  auto half = good;
  half.input[0].dtype = DType::bfloat16;
  CHECK(has(refusal(module, half), "bf16-mixed"));
  auto layout = good;
  layout.input[0].shape = {4, 32, 32, 3};
  CHECK(has(refusal(module, layout), "NCHW"));
  auto size = good;
  size.input[0].shape = {4, 3, 224, 224};
  CHECK(has(refusal(module, size), "[N, 3, 32, 32]"));
  auto field = good;
  field.input[1].name = "target";
  CHECK(has(refusal(module, field), "the chain gives image, target"));
  auto label = good;
  label.input[1].dtype = DType::uint8;
  CHECK(has(refusal(module, label), "int64"));
  auto model = good;
  model.train.model = "resnet";
  CHECK(has(refusal(module, model), "resnet18"));
  auto loss = good;
  loss.train.loss = "mse";
  CHECK(has(refusal(module, loss), "cross_entropy"));
  auto precision = good;
  precision.train.precision = "fp8";
  CHECK(has(refusal(module, precision), "bf16-mixed"));
  auto optimizer = good;
  optimizer.train.optimizer.kind = "lion";
  CHECK(has(refusal(module, optimizer), "adamw"));
  auto momentum = good;
  momentum.train.optimizer.momentum = 1.5;
  CHECK(has(refusal(module, momentum), "[0, 1)"));
  auto classes = good;
  classes.train.classes = 0;
  CHECK(has(refusal(module, classes), "at least 1"));
}

TEST_CASE("a label outside the classes is an Error(data)") {
  REQUIRE_MODULE(module);
  ToyBatch toy({4, 3, 32, 32}, 10, 10);
  toy.labels[2] = 10;
  const auto step = make_step(module, request_for(toy, "lenet", {}));
  const std::string message =
      test::error_message([&] { step->step(toy.batch, {.index = 7}); }, ErrorKind::data);
  CHECK(has(message, "step 7"));
  CHECK(has(message, "out of bounds"));
}
