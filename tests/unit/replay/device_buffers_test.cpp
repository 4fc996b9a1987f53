#include "cachebisect/replay/loop/device_buffers.hpp"

#include "support/all_stages.hpp"
#include "support/errors.hpp"
#include "support/fake_device.hpp"
#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// The size of an image of 5 x 5 x 3 floats, and with its label.
constexpr std::uint64_t kImage = 5 * 5 * 3 * sizeof(float);
constexpr std::uint64_t kSample = kImage + sizeof(std::int64_t);

/// Makes floats of bytes, as far as the chain's shapes tell: it never runs.
class Widen final : public DeviceStage {
 public:
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override {
    BatchSpec output = input;
    output[0].dtype = DType::float32;
    return output;
  }
  void process(const DeviceBatch& /*input*/, OwnedDeviceBatch& /*out*/,
               const DeviceContext& /*context*/) const override {}
};

std::string refusal(const Pipeline& pipeline, std::optional<std::uint64_t> free_bytes,
                    std::size_t copies = 3) {
  const FakeDevice device(0, free_bytes);
  return usage_error([&] { check_device_buffers(pipeline, device, copies); });
}

}  // namespace

TEST_CASE("batches that do not fit on the device are refused with the figures and the remedy") {
  const Pipeline pipeline = random_chain({.batch_size = 96, .device_stage = false});
  const std::uint64_t needed = 96 * 3 * kSample;
  CHECK(refusal(pipeline, needed).empty());
  CHECK(refusal(pipeline, needed - 1) ==
        "batches of 96 samples take 88.7 kB on fake (3 buffers for copies, one for each device "
        "stage), and 88.7 kB of its memory was free; lower batch_size to 95 or less, or the "
        "prefetch of copy.device");
  CHECK_FALSE(refusal(pipeline, needed, 4).empty());
  const std::string hopeless = refusal(pipeline, kSample);
  CHECK(has(hopeless, "lower the prefetch"));
}

TEST_CASE("a device stage takes what it changes, once") {
  PipelineBuilder builder;
  const Pipeline pipeline = builder.source("read", 64, read_image)
                                .collate("NHWC")
                                .copy()
                                .stage("widen", {"custom.widen", {}, std::make_shared<Widen>()})
                                .batch_size(8)
                                .build();
  const std::uint64_t pixels = 9 * 9 * 3;
  const std::uint64_t label = sizeof(std::int64_t);
  const std::uint64_t needed = 8 * (3 * (pixels + label) + pixels * sizeof(float));
  CHECK(refusal(pipeline, needed).empty());
  CHECK_FALSE(refusal(pipeline, needed - 1).empty());
}

TEST_CASE("a stage that works on a field takes memory for it, though dtype and shape stay") {
  const Pipeline pipeline = Pipeline::from_json(R"({"name": "twice", "batch_size": 8, "stages": [
      {"use": "synthetic.read", "bytes": 100, "samples": 64},
      {"use": "collate.stack"}, {"use": "copy.device"},
      {"use": "device.normalize", "mean": [0.5], "std": [0.25]},
      {"use": "device.normalize", "name": "again", "mean": [0.5], "std": [0.25]}],
      "train": {"kind": "callback"}})",
                                                all_stages());
  const std::uint64_t label = sizeof(std::int64_t);
  const std::uint64_t needed = 8 * (3 * (100 + label) + 2 * 100 * sizeof(float));
  CHECK(refusal(pipeline, needed).empty());
  CHECK_FALSE(refusal(pipeline, needed - 1).empty());
}

TEST_CASE("nothing is refused without figures") {
  CHECK(refusal(random_chain({}), std::nullopt).empty());
  PipelineBuilder builder;
  const Pipeline dynamic = builder.source("read", toy_source({.vary = true}))
                               .collate("NHWC")
                               .copy()
                               .batch_size(4)
                               .build();
  CHECK(refusal(dynamic, 1).empty());
}

TEST_CASE("a replayer refuses them before anything runs") {
  const auto device = std::make_shared<FakeDevice>(0, 1000);
  const auto step = std::make_shared<RecordingStep>();
  const std::string message = usage_error([&] {
    PipelineReplayer(random_chain({.device_stage = false}), device, step, {.workers = 1});
  });
  CHECK(has(message, "on fake"));
  CHECK(device->copies_made == 0);
}
