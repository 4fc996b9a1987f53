// Steps through a graph, with one that calls what it recorded.
#include "src/torch/recorded_step.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/torch_headers.hpp"

#include "cachebisect/base/error.hpp"

using namespace cachebisect::torch_module;

namespace {

struct Log {
  int recorded = 0;
  int replayed = 0;
};

/// Calls the recorded work at each replay, as a graph would.
class FakeGraph final : public StepGraph {
 public:
  explicit FakeGraph(Log& log) : log_(&log) {}
  void record(const std::function<void()>& work) override {
    ++log_->recorded;
    work_ = work;
  }
  void replay() override {
    ++log_->replayed;
    work_();
  }

 private:
  Log* log_;
  std::function<void()> work_;
};

/// Records no step, for `reason`.
class RefusingGraph final : public StepGraph {
 public:
  explicit RefusingGraph(std::string reason) : reason_(std::move(reason)) {}
  void record(const std::function<void()>& /*work*/) override { throw std::runtime_error(reason_); }
  void replay() override {}

 private:
  std::string reason_;
};

StepTensors batch_of(float value, std::int64_t size = 4) {
  return {{at::full({size, 2}, value)}, at::full({size}, value)};
}

/// What the steps read: the sum of the images, and where they lie.
struct Seen {
  std::vector<double> sums;
  std::vector<const void*> places;
  void operator()(const StepTensors& tensors) {
    sums.push_back(tensors.inputs[0].sum().item<double>() + tensors.target.sum().item<double>());
    places.push_back(tensors.inputs[0].data_ptr());
  }
};

}  // namespace

TEST_CASE("a step is recorded after three steps, and every batch is trained on once") {
  Log log;
  RecordedStep recorded(std::make_unique<FakeGraph>(log));
  Seen seen;
  for (int i = 1; i <= 6; ++i) {
    recorded.step(batch_of(static_cast<float>(i)), std::ref(seen));
    CHECK(log.recorded == (i > RecordedStep::kWarmupSteps ? 1 : 0));
  }
  CHECK(log.replayed == 3);
  CHECK(seen.sums == std::vector<double>{12, 24, 36, 48, 60, 72});
}

TEST_CASE("every step reads the same memory, whichever buffer the batch came in") {
  Log log;
  RecordedStep recorded(std::make_unique<FakeGraph>(log));
  Seen seen;
  const StepTensors first = batch_of(1);
  const StepTensors second = batch_of(2);
  for (int i = 0; i < 3; ++i) {
    recorded.step(first, std::ref(seen));
    recorded.step(second, std::ref(seen));
  }
  for (const void* place : seen.places) CHECK(place == seen.places.front());
  CHECK(seen.places.front() != first.inputs[0].data_ptr());
}

TEST_CASE("a batch of another shape, dtype or order is stepped as it is") {
  Log log;
  RecordedStep recorded(std::make_unique<FakeGraph>(log));
  Seen seen;
  for (int i = 0; i < 5; ++i) recorded.step(batch_of(1), std::ref(seen));
  const StepTensors last = batch_of(1, 3);
  recorded.step(last, std::ref(seen));
  CHECK(seen.places.back() == last.inputs[0].data_ptr());
  StepTensors halves = batch_of(1);
  halves.inputs[0] = halves.inputs[0].to(at::kDouble);
  recorded.step(halves, std::ref(seen));
  CHECK(seen.places.back() == halves.inputs[0].data_ptr());
  StepTensors turned{{at::full({2, 4}, 1.F).t()}, at::full({4}, 1.F)};
  recorded.step(turned, std::ref(seen));
  CHECK(seen.places.back() == turned.inputs[0].data_ptr());
  CHECK(log.replayed == 2);
}

TEST_CASE("a step without a target is recorded too") {
  Log log;
  RecordedStep recorded(std::make_unique<FakeGraph>(log));
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    recorded.step({{at::ones({2})}, at::Tensor()},
                  [&](const StepTensors& held) { sum += held.inputs[0].sum().item<double>(); });
  }
  CHECK(sum == 10);
  CHECK(log.replayed == 2);
}

TEST_CASE("a step that cannot be recorded names the setting, and keeps the kind of its error") {
  const auto kind_of = [](const char* reason) {
    RecordedStep recorded(std::make_unique<RefusingGraph>(reason));
    for (int i = 0; i < RecordedStep::kWarmupSteps; ++i) {
      recorded.step(batch_of(1), [](const StepTensors& /*held*/) {});
    }
    try {
      recorded.step(batch_of(1), [](const StepTensors& /*held*/) {});
    } catch (const cachebisect::Error& error) {
      const std::string text = error.what();
      CHECK(text.find("train.cuda_graph") != std::string::npos);
      CHECK(text.find("set it to false") != std::string::npos);
      CHECK(text.find(reason) != std::string::npos);
      return error.kind();
    }
    return cachebisect::ErrorKind::internal;
  };
  using cachebisect::ErrorKind;
  CHECK(kind_of("CUDA error: operation not permitted when stream is capturing") ==
        ErrorKind::device);
  CHECK(kind_of("CUDA out of memory") == ErrorKind::device);
  CHECK(kind_of("Offset increment outside graph capture") == ErrorKind::data);
}
