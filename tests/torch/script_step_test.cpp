// Training steps of TorchScript files: what they compute.
#include <cmath>
#include <string>
#include <vector>

#include "support/script_module.hpp"
#include "support/torch_headers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// The losses of plain SGD over the linear model, written out; the optimizer steps every
/// `accumulate` batches.
std::vector<double> expected_losses(int steps, double lr, int accumulate = 1) {
  at::Tensor weight = weights({48, 5}).set_requires_grad(true);
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) {
    const at::Tensor loss =
        at::cross_entropy_loss(at::matmul(wavy_images().flatten(1), weight), five_labels());
    all.push_back(loss.item().toDouble());
    (loss / accumulate).backward();
    if ((i + 1) % accumulate != 0) continue;
    const at::NoGradGuard no_grad;
    weight.sub_(weight.grad() * lr);
    weight.mutable_grad().reset();
  }
  return all;
}

void check_close(const std::vector<double>& given, const std::vector<double>& expected) {
  REQUIRE(given.size() == expected.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    CAPTURE(i);
    CHECK(given[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("a module trains as the same loop written out does") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const ClassBatch toy;
  const auto request =
      module_request(linear_module().save(folder), toy, {.kind = "sgd", .lr = 0.1});
  const auto step = make_step(module, request);
  check_close(losses(*step, toy, 6), expected_losses(6, 0.1));
}

TEST_CASE("gradients of several batches are averaged before the optimizer steps") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const ClassBatch toy;
  auto request = module_request(linear_module().save(folder), toy, {.kind = "sgd", .lr = 0.1});
  request.train.accumulate = 3;
  const auto step = make_step(module, request);
  const auto curve = losses(*step, toy, 8);
  check_close(curve, expected_losses(8, 0.1, 3));
  CHECK(curve[2] == curve[0]);
  CHECK(curve[3] != curve[2]);
}

TEST_CASE("every loss falls, with every optimizer and precision") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const std::string file = linear_module().save(folder);
  const std::string own_loss = ScriptSource(R"(
def forward(self, image, target):
    return torch.pow(torch.matmul(image.flatten(1), self.weight) - target, 2).mean()
)")
                                   .parameter("weight", weights({48, 5}))
                                   .save(folder, "own.pt");
  const TensorBatch toy({{"image", wavy_images()},
                         {"label", five_labels()},
                         {"target", at::one_hot(five_labels(), 5).to(at::kFloat)}});
  for (const std::string kind : {"sgd", "adam", "adamw"}) {
    for (const std::string precision : {"fp32", "bf16-mixed", "fp16-mixed"}) {
      for (const std::string loss : {"cross_entropy", "mse", "l1", "bce_with_logits", "output"}) {
        CAPTURE(kind);
        CAPTURE(precision);
        CAPTURE(loss);
        auto request =
            module_request(loss == "output" ? own_loss : file, toy, {.kind = kind, .lr = 0.01});
        request.train.precision = precision;
        request.train.loss = loss;
        if (loss != "cross_entropy") request.train.target = "target";
        if (loss == "output") request.train.inputs = {"image", "target"};
        const auto step = make_step(module, request);
        const auto curve = losses(*step, toy, 40);
        CHECK(curve.back() < 0.97 * curve.front());
      }
    }
  }
}

TEST_CASE("parameters, buffers, gradients and the loss scale are restored bit for bit") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  // The first steps in float16 overflow, so that the scale changes.
  const std::string file = ScriptSource(R"(
def forward(self, image):
    self.seen.add_(1)
    return torch.matmul(image.flatten(1), self.weight) * (64 + self.seen)
)")
                               .parameter("weight", weights({48, 5}))
                               .buffer("seen", at::zeros({1}))
                               .save(folder);
  const ClassBatch toy;
  for (const std::string precision : {"fp32", "fp16-mixed"}) {
    for (const int accumulate : {1, 3}) {
      for (const int steps_before : {0, 4}) {
        CAPTURE(precision);
        CAPTURE(accumulate);
        CAPTURE(steps_before);
        auto request = module_request(file, toy, {.kind = "adam", .lr = 0.01});
        request.train.precision = precision;
        request.train.accumulate = accumulate;
        const auto step = make_step(module, request);
        losses(*step, toy, steps_before);
        REQUIRE(step->snapshot());
        const auto first = losses(*step, toy, 20);
        step->restore();
        CHECK(losses(*step, toy, 20) == first);
        CHECK(first.front() != first.back());
      }
    }
  }
}

TEST_CASE("a step whose gradients overflow in float16 changes no weight and lowers the scale") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const ClassBatch toy;
  const std::string file = ScriptSource(R"(
def forward(self, image):
    return torch.matmul(image.flatten(1), self.weight) * 64
)")
                               .parameter("weight", weights({48, 5}))
                               .save(folder);
  for (const std::string kind : {"sgd", "adam"}) {
    CAPTURE(kind);
    auto request = module_request(file, toy, {.kind = kind, .lr = 0.001});
    request.train.precision = "fp16-mixed";
    const auto curve = losses(*make_step(module, request), toy, 12);
    CHECK(curve[1] == curve[0]);
    CHECK(curve.back() < curve[0]);
  }
}

TEST_CASE("weights that layers share are trained once, and unused ones are left alone") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const ClassBatch toy;
  const at::Tensor half = weights({48, 5}) / 2;
  const at::Tensor shared = half.clone().set_requires_grad(true);
  torch::jit::Module net("Net");
  net.register_parameter("a", shared, false);
  net.register_parameter("b", shared, false);
  net.register_parameter("unused", weights({7}).set_requires_grad(true), false);
  net.define(R"(
def forward(self, image):
    return torch.matmul(image.flatten(1), self.a + self.b)
)");
  net.save(folder.path("shared.pt"));
  // Twice the gradient goes into each half of the weight: four times the learning rate.
  const auto step = make_step(
      module, module_request(folder.path("shared.pt"), toy, {.kind = "sgd", .lr = 0.025}));
  check_close(losses(*step, toy, 5), expected_losses(5, 0.1));
}

TEST_CASE("frozen parameters are not trained") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const ClassBatch toy;
  const std::string file = ScriptSource(R"(
def forward(self, image):
    return torch.matmul(image.flatten(1), self.weight) + self.bias
)")
                               .parameter("weight", weights({48, 5}), false)
                               .parameter("bias", at::zeros({5}))
                               .save(folder);
  const auto step = make_step(module, module_request(file, toy, {.kind = "sgd", .lr = 0.5}));
  const auto curve = losses(*step, toy, 30);
  CHECK(curve.back() < curve.front());
  CHECK(curve.back() > expected_losses(30, 0.5).back());
}
