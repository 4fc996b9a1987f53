// A step or a device stage that writes its input is found on a CUDA device, whose memory the host
// cannot read.
#include <memory>
#include <string>
#include <vector>

#include "support/cuda_job.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using cuda_stub::Machine;
using test::has;

namespace {

/// Changes the last byte of the first field, when the device gets to it.
void write_to(const DeviceBatch& batch, Stream& stream) {
  const TensorView tensor = batch.fields.at(0).tensor;
  const auto bytes = tensor.byte_size();
  REQUIRE(cuda_stub::enqueue(static_cast<cudaStream_t>(stream.native()), [tensor, bytes] {
            std::byte& last = tensor.data[bytes - 1];
            last = static_cast<std::byte>(std::to_integer<int>(last) + 1);
          }) == cudaSuccess);
}

class CarelessStage final : public DeviceStage {
 public:
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const DeviceBatch& input, OwnedDeviceBatch& out,
               const DeviceContext& context) const override {
    const ConstTensorView from = input.fields.at(0).tensor;
    context.ops().cast(from, out.resize_field(0, "image", from.dtype, from.shape),
                       context.stream());
    write_to(input, context.stream());
  }
};

Pipeline make_pipeline(bool with_careless_stage) {
  PipelineBuilder builder;
  builder.source("read", 96, test::read_image).collate().copy();
  if (with_careless_stage) {
    builder.stage("careless", {"custom.careless", {}, std::make_shared<CarelessStage>()});
  }
  return builder.batch_size(4).workers(1).build();
}

std::shared_ptr<TrainStep> make_step(bool careless) {
  return make_callback_step(
      [careless](const DeviceBatch& batch, const StepContext& context) {
        if (careless) write_to(batch, *context.stream);
      },
      {DeviceKind::cuda});
}

/// The error of one block at every boundary on the device, in an order of the device's work.
std::string error_with(const Pipeline& pipeline, const std::shared_ptr<TrainStep>& step,
                       std::uint64_t schedule) {
  Machine machine({.schedule = schedule});
  const auto work = [&] {
    PipelineReplayer replayer(pipeline, make_cuda_device(0), step);
    replayer.prepare({}, {});
    const auto last = static_cast<int>(pipeline.stages().size());
    for (int boundary = 3; boundary <= last; ++boundary) {
      (void)replayer.run({{ArmKind::replay, boundary, 0, {}}, 5, 2, 0}, {});
    }
  };
  std::string message;
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    message = error.what();
  }
  CHECK(machine.violations() == std::vector<std::string>{});
  CHECK(machine.leaks() == std::vector<std::string>{});
  return message;
}

}  // namespace

TEST_CASE("a step that writes its batch on the device is named") {
  for (const std::uint64_t schedule : {0, 1, 2}) {
    CHECK(has(error_with(make_pipeline(false), make_step(true), schedule),
              "training step 'callback' changed the batch that it was given"));
  }
}

TEST_CASE("a device stage that writes its input on the device is named") {
  for (const std::uint64_t schedule : {0, 1, 2}) {
    CHECK(has(error_with(make_pipeline(true), make_step(false), schedule),
              "the cached output of stage 'copy' was changed while it was replayed, by stage "
              "'careless'"));
  }
}

TEST_CASE("stages and steps that leave their input alone are not accused") {
  for (const std::uint64_t schedule : {0, 1, 2}) {
    CHECK(error_with(make_pipeline(false), make_step(false), schedule).empty());
    CHECK(error_with(test::cuda_chain({}), make_step(false), schedule).empty());
  }
}
