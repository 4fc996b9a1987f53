// The LibTorch module, opened as make_model_step() opens it. Skipped if it was not built.
#include <cmath>
#include <vector>

#include "support/text.hpp"
#include "support/torch_step.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/registry.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

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
    for (const std::string precision : {"fp32", "bf16-mixed", "fp16-mixed"}) {
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

TEST_CASE("images in channels_last order train like contiguous ones, from both layouts") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({10, 3, 32, 32}, 10, 13);
  auto request = request_for(toy, "lenet", {.kind = "sgd", .lr = 0.02});
  const auto expected = losses(*make_step(module, request), toy, 3);
  request.train.memory_format = "channels_last";
  const auto copied = make_step(module, request);
  CHECK(copied->description() == "lenet, sgd, fp32, channels_last (each batch copied from NCHW)");
  CHECK(losses(*copied, toy, 3).back() == doctest::Approx(expected.back()).epsilon(1e-4));

  ToyBatch nhwc({10, 32, 32, 3}, 10, 13);
  for (std::size_t i = 0; i < nhwc.images.size(); ++i) {
    const std::size_t channel = i % 3;
    const std::size_t pixel = i / 3 % 1024;
    nhwc.images[i] = toy.images[(i / 3072 * 3 + channel) * 1024 + pixel];
  }
  request.input = nhwc.spec();
  const auto viewed = make_step(module, request);
  CHECK(viewed->expects()[0].layout == "NHWC");
  CHECK(viewed->description() == "lenet, sgd, fp32, channels_last");
  CHECK(losses(*viewed, nhwc, 3).back() == doctest::Approx(expected.back()).epsilon(1e-4));
}

TEST_CASE("inputs that do not fit are refused with the remedy") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({4, 3, 32, 32}, 10, 9);
  const ModelStepRequest good = request_for(toy, "lenet", {});

  auto bytes = good;
  bytes.input[0].dtype = DType::uint8;
  CHECK(has(step_refusal(module, bytes), "augment.to_float"));
  auto half = good;
  half.input[0].dtype = DType::bfloat16;
  CHECK(has(step_refusal(module, half), "bf16-mixed"));
  auto layout = good;
  layout.input[0].shape = {4, 32, 32, 3};
  CHECK(has(step_refusal(module, layout), "NCHW"));
  auto size = good;
  size.input[0].shape = {4, 3, 224, 224};
  CHECK(has(step_refusal(module, size), "[N, 3, 32, 32]"));
  auto field = good;
  field.input[1].name = "target";
  CHECK(has(step_refusal(module, field), "the chain gives image, target"));
  auto label = good;
  label.input[1].dtype = DType::uint8;
  CHECK(has(step_refusal(module, label), "int64"));
  auto model = good;
  model.train.model = "resnet";
  CHECK(has(step_refusal(module, model), "resnet18"));
  auto loss = good;
  loss.train.loss = "mse";
  CHECK(has(step_refusal(module, loss), "cross_entropy"));
  auto precision = good;
  precision.train.precision = "fp8";
  CHECK(has(step_refusal(module, precision), "bf16-mixed"));
  auto format = good;
  format.train.memory_format = "NHWC";
  CHECK(has(step_refusal(module, format), "channels_last"));
  auto accumulate = good;
  accumulate.train.accumulate = 0;
  CHECK(has(step_refusal(module, accumulate), "at least 1"));
  auto optimizer = good;
  optimizer.train.optimizer.kind = "lion";
  CHECK(has(step_refusal(module, optimizer), "adamw"));
  auto momentum = good;
  momentum.train.optimizer.momentum = 1.5;
  CHECK(has(step_refusal(module, momentum), "[0, 1)"));
  auto classes = good;
  classes.train.classes = 0;
  CHECK(has(step_refusal(module, classes), "at least 1"));
}

TEST_CASE("a label outside the classes is an Error(data)") {
  REQUIRE_MODULE(module);
  ToyBatch toy({4, 3, 32, 32}, 10, 10);
  toy.labels[2] = 10;
  const auto step = make_step(module, request_for(toy, "lenet", {}));
  const std::string message =
      error_message([&] { step->step(toy.batch, {.index = 7}); }, ErrorKind::data);
  CHECK(has(message, "step 7"));
  CHECK(has(message, "out of bounds"));
}

namespace {

class PartList final : public StepPartObserver {
 public:
  void part_ended(StepPart part) override { parts.push_back(part); }
  std::vector<StepPart> parts;
};

}  // namespace

TEST_CASE("a step tells its parts, and the optimizer's only when it steps") {
  REQUIRE_MODULE(module);
  const ToyBatch toy({4, 3, 32, 32}, 10, 11);
  auto request = request_for(toy, "lenet", {});
  request.train.accumulate = 2;
  const auto step = make_step(module, request);
  const std::vector<StepPart> all{StepPart::forward, StepPart::backward, StepPart::optimizer};
  CHECK(step->parts() == all);
  PartList list;
  step->step(toy.batch, {.observer = &list});
  CHECK(list.parts == std::vector{StepPart::forward, StepPart::backward});
  list.parts.clear();
  step->step(toy.batch, {.observer = &list});
  CHECK(list.parts == all);
}
