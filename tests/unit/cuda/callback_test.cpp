// Training steps from callables on a CUDA device: their work is ordered and timed, on any stream.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda_stub/enqueue.hpp"
#include "support/cuda_job.hpp"
#include "support/errors.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using cuda_stub::Machine;
using cuda_stub::MachineOptions;
using test::CudaJobOptions;
using test::SeenBatch;

namespace {

constexpr double kKernelSeconds = 1e-3;

/// Reads a batch when the device gets to it, and keeps what it was.
class Reader {
 public:
  void enqueue(const DeviceBatch& batch, cudaStream_t stream) {
    auto& seen = *seen_;
    REQUIRE(cuda_stub::enqueue(stream, [&seen, batch] { seen.push_back(test::record(batch)); }) ==
            cudaSuccess);
  }
  [[nodiscard]] const std::vector<SeenBatch>& seen() const { return *seen_; }

 private:
  std::shared_ptr<std::vector<SeenBatch>> seen_ = std::make_shared<std::vector<SeenBatch>>();
};

using MakeStep = std::function<std::unique_ptr<TrainStep>(Reader)>;

/// Reads on the default stream, which is all that a callable on a batch can know.
std::unique_ptr<TrainStep> reads_on_default_stream(Reader reader) {
  return make_callback_step(
      [reader](const DeviceBatch& batch) mutable { reader.enqueue(batch, nullptr); },
      {DeviceKind::cuda});
}

std::unique_ptr<TrainStep> reads_on_given_stream(Reader reader) {
  return make_callback_step(
      [reader](const DeviceBatch& batch, const StepContext& context) mutable {
        reader.enqueue(batch, static_cast<cudaStream_t>(context.stream->native()));
      },
      {DeviceKind::cuda});
}

/// Takes a context and does not use it: nothing orders its work.
std::unique_ptr<TrainStep> reads_without_order(Reader reader) {
  return make_callback_step(
      [reader](const DeviceBatch& batch, const StepContext& /*context*/) mutable {
        reader.enqueue(batch, nullptr);
      },
      {DeviceKind::cuda});
}

struct Outcome {
  std::vector<SeenBatch> seen;
  BlockResult block;
};

/// A live block of 9 timed steps after 2 untimed ones.
Outcome run(const MakeStep& make, const CudaJobOptions& options, std::uint64_t schedule) {
  Machine machine({.schedule = schedule, .kernel_seconds = kKernelSeconds});
  const Reader reader;
  Outcome outcome;
  {
    PipelineReplayer replayer(test::cuda_chain(options), make_cuda_device(0), make(reader),
                              ReplayOptions{.io = IoMode::warm, .keep_queues = false});
    replayer.prepare({}, {});
    outcome.block = replayer.run({{ArmKind::live, 0, 0, {}}, 9, 2, 0}, {});
  }
  CHECK(machine.violations() == std::vector<std::string>{});
  CHECK(machine.leaks() == std::vector<std::string>{});
  outcome.seen = reader.seen();
  return outcome;
}

}  // namespace

TEST_CASE("a callable sees every batch as it was and is timed, on the default stream too") {
  for (const int prefetch : {0, 2}) {
    const CudaJobOptions options{.copy = {true, true, prefetch}};
    const auto expected = test::batches_on_cpu(options);
    for (std::uint64_t schedule = 0; schedule < 8; ++schedule) {
      CAPTURE(prefetch);
      CAPTURE(schedule);
      for (const MakeStep& make :
           {MakeStep(reads_on_default_stream), MakeStep(reads_on_given_stream)}) {
        const Outcome outcome = run(make, options, schedule);
        CHECK(outcome.seen == expected);
        CHECK(outcome.block.seconds > 9 * kKernelSeconds);
      }
    }
  }
}

TEST_CASE("a callable that takes a context and queues elsewhere is neither ordered nor timed") {
  const CudaJobOptions options;
  const auto expected = test::batches_on_cpu(options);
  bool wrong = false;
  for (std::uint64_t schedule = 0; schedule < 8 && !wrong; ++schedule) {
    wrong = run(reads_without_order, options, schedule).seen != expected;
  }
  CHECK(wrong);
}

TEST_CASE("a step that reads the batch on the host is refused before anything is copied") {
  Machine machine;
  const std::shared_ptr<TrainStep> step = make_callback_step([](const DeviceBatch& /*batch*/) {});
  CHECK(test::usage_error(
            [&] { PipelineReplayer(test::cuda_chain({}), make_cuda_device(0), step); }) ==
        "training step 'callback' runs on cpu, and the device is cuda:0 (Virtual GPU 0); use "
        "--device cpu, or if the step can run on cuda, name it in devices() of the step or in "
        "make_callback_step()");
  CHECK(machine.calls("cudaMemcpyAsync") == 0);
}
