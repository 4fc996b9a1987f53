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

TEST_CASE("built-in stages with dynamic shapes and padding replay as live") {
  Chain chain;
  check_replay(dynamic_chain(chain));
}
