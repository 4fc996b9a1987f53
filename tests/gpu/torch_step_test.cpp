// Training steps of LibTorch on a CUDA device. A process that trains on the CPU and on CUDA must
// make the CUDA step first.
#include "support/torch_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/gpu_job.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;
using test::ToyBatch;

namespace {

constexpr int kSteps = 6;

bool cannot_train() { return !test::has_torch_module() || test::no_cuda_device(); }

struct StepFixture {
  const TorchModule* module = test::loaded_torch_module();
  std::shared_ptr<Device> cuda = make_cuda_device(0);
  std::unique_ptr<Stream> stream = cuda->make_stream();
  std::unique_ptr<Event> done = cuda->make_event();

  test::StepPointer make(ModelStepRequest request) const {
    request.device = DeviceKind::cuda;
    return test::make_step(module, request);
  }
  [[nodiscard]] StepContext context() const {
    return {.stream = stream.get(), .device = cuda.get()};
  }

  std::vector<double> losses(TrainStep& step, const DeviceBatch& batch, int steps = kSteps) const {
    std::vector<double> all;
    for (int i = 0; i < steps; ++i) {
      step.step(batch, context());
      all.push_back(step.loss().value());
    }
    return all;
  }

  /// Leaves less than 1 MiB.
  [[nodiscard]] std::vector<Buffer> take_all_memory() const {
    std::vector<Buffer> taken;
    for (std::size_t bytes = std::size_t{1} << 30U; bytes >= std::size_t{1} << 20U; bytes /= 2) {
      try {
        for (;;) {
          Buffer piece(cuda->device_memory());
          piece.reserve(bytes);
          taken.push_back(std::move(piece));
        }
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::device);
      }
    }
    return taken;
  }
};

/// A batch in device memory, whose bytes arrive when the stream gets to them.
class OnDevice {
 public:
  OnDevice(StepFixture& fixture, const ToyBatch& toy) : batch(toy.batch), fixture_(&fixture) {
    for (BatchField& field : batch.fields) {
      const std::size_t bytes = field.tensor.byte_size();
      host_.emplace_back(fixture.cuda->slot_memory(true));
      std::memcpy(host_.back().reserve(bytes), field.tensor.data, bytes);
      device_.emplace_back(fixture.cuda->device_memory());
      field.tensor.data = device_.back().reserve(bytes);
    }
    send();
    fixture.cuda->record(*fixture.done, *fixture.stream);
    fixture.cuda->synchronize(*fixture.done);
  }

  void send() {
    for (std::size_t i = 0; i < host_.size(); ++i) {
      fixture_->cuda->copy_to_device(batch.fields[i].tensor.data, host_[i].data(),
                                     batch.fields[i].tensor.byte_size(), *fixture_->stream, false);
    }
  }
  /// Changes what send() sends.
  void replace(const ToyBatch& toy) {
    for (std::size_t i = 0; i < host_.size(); ++i) {
      const TensorView& from = toy.batch.fields[i].tensor;
      std::memcpy(host_[i].data(), from.data, from.byte_size());
    }
  }

  DeviceBatch batch;

 private:
  StepFixture* fixture_;
  std::vector<Buffer> host_;
  std::vector<Buffer> device_;
};

/// Images for lenet.
Pipeline image_chain(std::int64_t batch_size) {
  PipelineBuilder builder;
  builder
      .source("read", static_cast<std::uint64_t>(4 * batch_size),
              [](SampleIndex index, Sample& out) {
                const auto pixels = out.field("image").resize_as<float>(Shape{32, 32, 3});
                std::fill(pixels.begin(), pixels.end(), static_cast<float>(index.value % 7));
                out.field("label").set(static_cast<std::int64_t>(index.value % 10));
              })
      .collate("NCHW")
      .copy({true, true, 2});
  return builder.batch_size(batch_size).workers(1).build();
}

ModelStepRequest exact_request(const ToyBatch& toy, const std::string& model) {
  ModelStepRequest request = test::request_for(toy, model, {.kind = "sgd", .lr = 0.05});
  request.train.tf32 = false;
  return request;
}

void check_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    CHECK(a[i] == doctest::Approx(b[i]).epsilon(tolerance));
}

}  // namespace

TEST_CASE_FIXTURE(StepFixture,
                  "a step on CUDA has the losses of the cpu" * doctest::skip(cannot_train())) {
  const ToyBatch digits({32, 1, 28, 28}, 10, 1);
  const ToyBatch images({32, 3, 32, 32}, 10, 2);
  for (const auto& [model, toy] : {std::pair{"mlp", &digits}, std::pair{"lenet", &images}}) {
    CAPTURE(model);
    const ModelStepRequest request = exact_request(*toy, model);
    const auto step = make(request);
    const auto on_cuda = losses(*step, OnDevice(*this, *toy).batch);
    const auto cpu_step = test::make_step(module, request);
    check_close(on_cuda, test::losses(*cpu_step, *toy, kSteps), 1e-3);
  }
}

TEST_CASE_FIXTURE(StepFixture, "a step reads its batch in the order of the device's stream" *
                                   doctest::skip(cannot_train())) {
  const ToyBatch toy({32, 3, 32, 32}, 10, 3);
  OnDevice on_device(*this, toy);
  const auto expected = losses(*make(exact_request(toy, "lenet")), on_device.batch, 1);

  const ToyBatch other({32, 3, 32, 32}, 10, 99);
  OnDevice late(*this, other);
  late.replace(toy);
  const auto step = make(exact_request(toy, "lenet"));
  cuda->enqueue_work(*stream, 0.5);
  late.send();
  check_close(losses(*step, late.batch, 1), expected, 1e-4);
}

TEST_CASE_FIXTURE(StepFixture, "a step without memory is an error of the device that passes" *
                                   doctest::skip(cannot_train())) {
  const ToyBatch small({8, 3, 32, 32}, 10, 6);
  const OnDevice small_batch(*this, small);
  const auto first = make(exact_request(small, "lenet"));
  (void)losses(*first, small_batch.batch, 1);  // cuBLAS and cuDNN have their memory now

  const Pipeline chain = image_chain(4096);
  ModelStepRequest request = exact_request(small, "lenet");
  request.input = chain.device_spec();
  PipelineReplayer replayer(chain, cuda, make(request),
                            ReplayOptions{.io = IoMode::warm, .keep_queues = false});
  replayer.prepare({}, {});
  const BlockRequest live{{ArmKind::live, 0, 0, {}}, 2, 1, 0};
  {
    const std::vector<Buffer> taken = take_all_memory();
    const std::string message =
        test::error_message([&] { (void)replayer.run(live, {}); }, ErrorKind::device);
    CHECK(has(message, "out of memory"));
    CHECK(has(message, "lower batch_size"));
  }
  CHECK(replayer.run(live, {}).samples == 2 * 4096);
}

TEST_CASE_FIXTURE(StepFixture,
                  "restored weights give the same losses again" * doctest::skip(cannot_train())) {
  const ToyBatch toy({32, 3, 32, 32}, 10, 4);
  const OnDevice on_device(*this, toy);
  const auto step = make(exact_request(toy, "lenet"));
  REQUIRE(step->snapshot());
  const auto first = losses(*step, on_device.batch);
  step->restore();
  check_close(losses(*step, on_device.batch), first, 1e-4);
}

TEST_CASE_FIXTURE(StepFixture, "a step recorded as a CUDA graph has the losses of one that is not" *
                                   doctest::skip(cannot_train())) {
  const ToyBatch toy({32, 3, 32, 32}, 10, 7);
  const OnDevice on_device(*this, toy);
  ModelStepRequest request = exact_request(toy, "lenet");
  const auto expected = losses(*make(request), on_device.batch, 3 * kSteps);
  request.train.cuda_graph = true;
  check_close(losses(*make(request), on_device.batch, 3 * kSteps), expected, 1e-3);
}

TEST_CASE_FIXTURE(StepFixture,
                  "mixed precision and channels_last learn" * doctest::skip(cannot_train())) {
  const ToyBatch toy({32, 3, 32, 32}, 10, 5);
  const OnDevice on_device(*this, toy);
  for (const char* const precision : {"fp32", "bf16-mixed", "fp16-mixed"}) {
    for (const char* const format : {"contiguous", "channels_last"}) {
      CAPTURE(precision);
      CAPTURE(format);
      ModelStepRequest request =
          test::request_for(toy, "lenet", {.kind = "adam", .lr = 0.003}, precision);
      request.train.memory_format = format;
      const auto all = losses(*make(request), on_device.batch, 60);
      CHECK(std::isfinite(all.back()));
      CHECK(all.back() < 0.8 * all.front());
    }
  }
}
