// A replayer on a virtual CUDA device, and a step that records what the device gives it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda_stub/enqueue.hpp"
#include "cuda_stub/machine.hpp"
#include "support/recording_step.hpp"
#include "support/test_chain.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

namespace cachebisect::test {

/// Reads each batch in a kernel, when the device gets to the step.
class KernelStep final : public TrainStep {
 public:
  [[nodiscard]] std::string name() const override { return "kernel"; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda}; }
  void step(const DeviceBatch& batch, const StepContext& context) override {
    if (before) before(context.index);
    const auto stream = static_cast<cudaStream_t>(context.stream->native());
    const cudaError_t error =
        cuda_stub::enqueue(stream, [this, batch] { seen.push_back(record(batch)); });
    if (error != cudaSuccess) throw Error(ErrorKind::device, "the step was not queued");
  }

  std::function<void(std::uint64_t)> before;  ///< called on the host with each step's index
  std::vector<SeenBatch> seen;
};

struct CudaJobOptions {
  ChainOptions chain{.samples = 56};
  CopyOptions copy{true, true, 2};
  int ordinal = 0;
  bool keep_queues = false;
};

/// random_chain() with these options for the copy.
inline Pipeline cuda_chain(const CudaJobOptions& options) {
  PipelineBuilder builder;
  builder.source("read", options.chain.samples, read_image)
      .stage("window", {"custom.window",
                        {.random = true, .strided_output = true},
                        std::make_shared<RandomWindow>(6)})
      .stage("noise", {"custom.noise", {.random = true}, std::make_shared<NoisyFloat>()})
      .collate("NCHW")
      .copy(options.copy)
      .stage("shift", {"custom.shift", {}, std::make_shared<ShiftOnDevice>()});
  return builder.batch_size(options.chain.batch_size)
      .workers(options.chain.workers)
      .loader(options.chain.loader)
      .seed(options.chain.seed)
      .build();
}

/// The batches of all steps of a live block with the same chain on the cpu device.
inline std::vector<SeenBatch> batches_on_cpu(const CudaJobOptions& options, int steps = 9,
                                             int warmup = 2) {
  const auto step = std::make_shared<RecordingStep>();
  PipelineReplayer replayer(cuda_chain(options), make_cpu_device(), step,
                            ReplayOptions{.io = IoMode::warm, .keep_queues = false});
  replayer.prepare({}, {});
  (void)replayer.run({{ArmKind::live, 0, 0, {}}, steps, warmup, 0}, {});
  return step->seen;
}

struct CudaJob {
  explicit CudaJob(const CudaJobOptions& options, std::shared_ptr<Device> device = nullptr)
      : step(std::make_shared<KernelStep>()),
        replayer(cuda_chain(options), device ? device : make_cuda_device(options.ordinal), step,
                 ReplayOptions{.io = IoMode::warm, .keep_queues = options.keep_queues}) {
    replayer.prepare({}, {});
  }

  /// The batches of all steps.
  std::vector<SeenBatch> run(const Arm& arm, int steps = 9, int warmup = 2) {
    step->seen.clear();
    last = replayer.run({arm, steps, warmup, 0}, {});
    return std::exchange(step->seen, {});
  }

  std::shared_ptr<KernelStep> step;
  PipelineReplayer replayer;
  BlockResult last;
};

}  // namespace cachebisect::test
