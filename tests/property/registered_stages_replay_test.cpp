// Replay equals live for the built-in random stages, with static and with dynamic shapes.
#include <initializer_list>
#include <memory>
#include <utility>

#include "support/recording_step.hpp"
#include "support/stage_maker.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;

namespace {

constexpr std::uint64_t kSamples = 48;

/// Images of sizes between 16 x 18 and 22 x 26.
void read_photo(SampleIndex index, Sample& out) {
  const auto height = static_cast<std::int64_t>(16 + index % 7);
  const auto width = static_cast<std::int64_t>(18 + index % 9);
  const auto pixels = out.field("image").resize_as<std::uint8_t>(Shape{height, width, 3});
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(index * 91 + i * 7 + i / 50);
  }
  out.field("label").set<std::int64_t>(static_cast<std::int64_t>(index % 10));
}

class Chain {
 public:
  Chain& add(const std::string& type, const std::vector<test::NamedValue>& values = {}) {
    const StageType& found = test::all_stages().stage(type);
    builder_.stage(BuiltStage{type, found.traits, found.make(test::params_of(found, values))});
    return *this;
  }
  PipelineBuilder& builder() { return builder_; }

 private:
  PipelineBuilder builder_;
};

Pipeline static_chain(Chain& chain) {
  chain.builder().source("read", kSamples, read_photo);
  chain.add("augment.random_resized_crop", {{"size", std::int64_t{14}}})
      .add("augment.horizontal_flip")
      .add("augment.random_crop", {{"size", std::int64_t{14}}, {"padding", std::int64_t{2}}})
      .add("augment.color_jitter", {{"brightness", 0.4}, {"contrast", 0.4}})
      .add("augment.random_erasing", {{"p", 0.5}})
      .add("augment.to_float")
      .add("collate.stack", {{"layout", std::string("NCHW")}})
      .add("copy.device")
      .add("device.normalize", {{"mean", std::vector<double>{0.5, 0.4, 0.3}},
                                {"std", std::vector<double>{0.2, 0.3, 0.4}}});
  return chain.builder().batch_size(6).workers(2).device("cpu").build();
}

Pipeline dynamic_chain(Chain& chain) {
  chain.builder().source("read", kSamples, read_photo);
  chain.add("augment.horizontal_flip")
      .add("augment.vertical_flip")
      .add("augment.to_float")
      .add("collate.pad")
      .add("copy.device");
  return chain.builder().batch_size(6).workers(2).device("cpu").build();
}

/// The same samples, padded before the copy or behind it.
Pipeline padded_chain(Chain& chain, bool on_device) {
  chain.builder().source("read", kSamples, read_photo);
  chain.add("augment.horizontal_flip").add(on_device ? "collate.ragged" : "collate.pad");
  chain.add("copy.device");
  if (on_device) chain.add("device.pad", {{"shape", std::vector<double>{3, -1, -1}}});
  chain.add("device.normalize", {{"mean", std::vector<double>{0.5, 0.4, 0.3}},
                                 {"std", std::vector<double>{0.2, 0.3, 0.4}}});
  return chain.builder().batch_size(6).workers(2).device("cpu").build();
}

/// Crops, flips and changes of colour before or behind the copy.
Pipeline augmented_chain(Chain& chain, const std::string& layout, const std::string& room) {
  const bool on_device = room == "device";
  const auto add = [&](const std::string& stage, std::vector<test::NamedValue> values = {}) {
    if (on_device) values.push_back({"layout", layout});
    chain.add(room + "." + stage, values);
  };
  const auto augment = [&] {
    add("random_crop", {{"size", std::int64_t{13}}, {"padding", std::int64_t{2}}});
    add("horizontal_flip");
    add("vertical_flip", {{"p", 0.3}});
    add("color_jitter",
        {{"brightness", 0.4}, {"contrast", 0.5}, {"saturation", 0.6}, {"hue", 0.3}});
    add("center_crop", {{"height", std::int64_t{9}}, {"width", std::int64_t{16}}});
  };
  chain.builder().source("read", kSamples, read_photo);
  chain.add("augment.random_resized_crop", {{"size", std::int64_t{14}}});
  if (!on_device) augment();
  chain.add("collate.stack", {{"layout", layout}}).add("copy.device");
  if (on_device) augment();
  return chain.builder().batch_size(6).workers(2).device("cpu").build();
}

std::vector<cachebisect::test::SeenBatch> live_batches(const Pipeline& pipeline) {
  const auto step = std::make_shared<cachebisect::test::RecordingStep>();
  PipelineReplayer replayer(pipeline, make_cpu_device(), step,
                            {.io = IoMode::as_is, .workers = 2, .keep_queues = false});
  replayer.prepare({}, {});
  // More than two epochs.
  replayer.run({{ArmKind::live, 0, 0, {}}, 2 * kSamples / 6 + 3, 0, 0}, {});
  return step->seen;
}

void check_replay(const Pipeline& pipeline) {
  for (const int workers : {0, 1, 2, 4}) {
    const auto step = std::make_shared<cachebisect::test::RecordingStep>();
    PipelineReplayer replayer(pipeline, make_cpu_device(), step,
                              {.io = IoMode::warm, .workers = workers, .keep_queues = false});
    replayer.prepare({}, {});
    const auto run = [&](int boundary) {
      replayer.run({{ArmKind::replay, boundary, 0, {}}, 9, 1, 0}, {});
      return std::exchange(step->seen, {});
    };
    const auto live = run(0);
    CHECK(live.size() == 10);
    for (std::size_t boundary = 1; boundary <= pipeline.stages().size(); ++boundary) {
      CAPTURE(workers);
      CAPTURE(boundary);
      CHECK(run(static_cast<int>(boundary)) == live);
    }
  }
}

}  // namespace

TEST_CASE("built-in stages of static shapes replay as live") {
  Chain chain;
  check_replay(static_chain(chain));
}

TEST_CASE("random stages behind the copy replay as live") {
  Chain chain;
  check_replay(augmented_chain(chain, "NCHW", "device"));
}

TEST_CASE("random stages give the same batches before and behind the copy") {
  for (const std::string layout : {"NCHW", "NHWC"}) {
    Chain host;
    Chain device;
    const auto wanted = live_batches(augmented_chain(host, layout, "augment"));
    CHECK(wanted.size() > 2 * kSamples / 6);
    CHECK(live_batches(augmented_chain(device, layout, "device")) == wanted);
  }
}

TEST_CASE("built-in stages with dynamic shapes and padding replay as live") {
  Chain chain;
  check_replay(dynamic_chain(chain));
}

TEST_CASE("samples padded on the device are those padded before the copy, live and replayed") {
  Chain host;
  Chain device;
  CHECK(live_batches(padded_chain(device, true)) == live_batches(padded_chain(host, false)));
  Chain chain;
  check_replay(padded_chain(chain, true));
}
