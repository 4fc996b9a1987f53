#include "cachebisect/pipeline/pipeline.hpp"

#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/chain.hpp"
#include "cachebisect/pipeline/plain_copy.hpp"
#include "cachebisect/pipeline/stack_collate.hpp"

using namespace cachebisect;
using test::error_message;
using test::has;
using test::usage_error;

namespace {

Registry toy_registry() {
  Registry registry;
  const auto add = [&](std::string type, StageKind kind,
                       std::function<std::unique_ptr<Stage>(const Params&)> make) {
    StageType stage;
    stage.type = std::move(type);
    stage.doc = "A toy.";
    stage.kind = kind;
    stage.example = "{}";
    stage.make = std::move(make);
    registry.add(std::move(stage));
  };
  add("read.toy", StageKind::source,
      [](const Params&) { return std::make_unique<test::ToySource>(test::ToySourceOptions{}); });
  add("augment.noise", StageKind::sample,
      [](const Params&) { return std::make_unique<test::ToyNoise>(false); });
  add("collate.stack", StageKind::collate,
      [](const Params&) { return std::make_unique<StackCollate>(BatchLayout::nchw); });
  add("batch.count_up", StageKind::batch,
      [](const Params&) { return std::make_unique<test::ToyCountUp>(); });
  add("copy.device", StageKind::copy,
      [](const Params&) { return std::make_unique<PlainCopy>(CopyOptions{}); });
  return registry;
}

Pipeline from(std::vector<std::string> types, std::int64_t batch_size = 8) {
  static const Registry registry = toy_registry();
  PipelineSpec spec;
  spec.batch_size = batch_size;
  for (std::string& type : types) {
    StageSpec stage;
    stage.use = std::move(type);
    spec.stages.push_back(std::move(stage));
  }
  return Pipeline::from_spec(std::move(spec), registry);
}

}  // namespace

TEST_CASE("a chain is made, named and inferred") {
  const Pipeline pipeline = from({"read.toy", "augment.noise", "augment.noise", "collate.stack",
                                  "batch.count_up", "copy.device"});
  REQUIRE(pipeline.stages().size() == 6);
  CHECK(pipeline.stages()[0].name == "read");
  CHECK(pipeline.stages()[2].name == "noise_2");
  CHECK(pipeline.stages()[2].random_key == hash_name("noise_2"));
  CHECK(pipeline.stages()[3].kind == StageKind::collate);
  CHECK(pipeline.collate_position() == 3);
  CHECK(pipeline.copy_position() == 5);
  CHECK(pipeline.device_spec()[0].shape == Shape{8, 3, 4, 6});
  CHECK(describe(pipeline.stages()[1].output) == "image uint8 [4, 6, 3], label int64 []");
  CHECK_FALSE(pipeline.stages()[2].batched_output);
  CHECK(pipeline.stages()[3].batched_output);
  CHECK(pipeline.static_shapes());
  CHECK(pipeline.samples() == 100);
  CHECK(pipeline.held(0) == Held::none);
  CHECK(pipeline.held(5) == Held::host);
  CHECK(pipeline.held(6) == Held::device);
}

TEST_CASE("a wrong order names the stages and the right order") {
  const auto of = [](std::vector<std::string> types) {
    return usage_error([&] { (void)from(std::move(types)); });
  };
  CHECK(has(of({}), "no stages"));
  const std::string late = of({"read.toy", "collate.stack", "augment.noise", "copy.device"});
  CHECK(has(late, "'noise' (augment.noise)"));
  CHECK(has(late, "'collate' (collate.stack)"));
  CHECK(has(late, "source, sample stages, collate"));
  CHECK(has(of({"augment.noise", "collate.stack", "copy.device"}), "begins with a source"));
  CHECK(has(of({"read.toy", "read.toy", "collate.stack", "copy.device"}), "exactly one"));
  CHECK(has(of({"read.toy", "collate.stack", "collate.stack", "copy.device"}), "exactly one"));
  CHECK(has(of({"read.toy", "augment.noise", "copy.device"}),
            R"(add {"use": "collate.stack", "layout": "NCHW"} after 'noise')"));
  CHECK(has(of({"read.toy", "collate.stack"}), R"(add {"use": "copy.device"} after 'collate')"));
  CHECK(has(of({"read.toy", "copy.device", "collate.stack"}), "put 'collate' before 'copy'"));
}

TEST_CASE("a batch larger than the data set is refused with drop_last and allowed without") {
  const auto types = {"read.toy", "collate.stack", "copy.device"};
  const std::string text =
      usage_error([&] { (void)from(std::vector<std::string>(types.begin(), types.end()), 128); });
  CHECK(has(text, "batch_size is 128"));
  CHECK(has(text, "100 samples"));
  CHECK(PipelineBuilder{}
            .source("read", test::toy_source({}))
            .collate()
            .copy()
            .batch_size(128)
            .drop_last(false)
            .build()
            .batch_size() == 128);
}

TEST_CASE("the builder has the limits of a pipeline file") {
  const auto build = [](std::int64_t batch_size, int prefetch) {
    return usage_error([&] {
      (void)PipelineBuilder{}
          .source("read", test::toy_source({}))
          .collate()
          .copy()
          .batch_size(batch_size)
          .prefetch(prefetch)
          .build();
    });
  };
  CHECK(has(build(1048577, 2), "batch_size is 1048577; it must be 1 to 1048576"));
  CHECK(has(build(1, 65), "prefetch is 65; it must be 0 to 64"));
}

TEST_CASE("an error of a stage carries its name") {
  class Picky final : public SampleStage {
   public:
    [[nodiscard]] SampleSpec infer(const SampleSpec&) override {
      throw Error(ErrorKind::usage, "needs float32");
    }
    void process(const Sample&, Sample&, const SampleContext&) const override {}
  };
  const std::string text = usage_error([] {
    (void)PipelineBuilder{}
        .source("read", test::toy_source({}))
        .stage("crop", {"augment.picky", {}, std::make_shared<Picky>()})
        .collate()
        .copy()
        .build();
  });
  CHECK(text == "stage 'crop' (augment.picky): needs float32");
}

TEST_CASE("the outputs of callables are learnt from samples") {
  const auto read = [](SampleIndex index, Sample& out) {
    out.field("image").resize_as<std::uint8_t>({2 + static_cast<std::int64_t>(index % 2), 3, 1});
    out.field("label").set<std::int64_t>(1);
  };
  const auto half = [](const Sample& input, Sample& out) {
    const Shape shape = input.field("image").shape();
    out.field("image").resize_as<float>({2, shape[1], shape[2]});
  };
  const Pipeline pipeline = PipelineBuilder{}
                                .name("mine")
                                .source("files", 10, read)
                                .stage("half", half)
                                .stage("noise", test::toy_hook([](const Sample&) {}))
                                .collate("NCHW")
                                .copy({.prefetch = 1})
                                .batch_size(4)
                                .workers(3)
                                .build();
  CHECK(pipeline.stages()[0].output[0].shape == Shape{kDynamic, 3, 1});
  CHECK(pipeline.stages()[1].output[0].dtype == DType::float32);
  CHECK(pipeline.stages()[1].output[0].shape == Shape{2, 3, 1});
  CHECK(pipeline.static_shapes());
  CHECK(pipeline.spec().name == "mine");
  CHECK(pipeline.spec().workers == 3);
  CHECK(pipeline.spec().stages[1].use == "custom.half");
  CHECK(pipeline.copy_options().prefetch == 1);
}

TEST_CASE("a callable that throws or changes its dtype is named") {
  const auto build = [](PipelineBuilder::ReadFunction read) {
    (void)PipelineBuilder{}
        .source("files", 9, std::move(read))
        .collate()
        .copy()
        .batch_size(2)
        .build();
  };
  CHECK(has(
      error_message([&] { build([](SampleIndex, Sample&) { throw std::runtime_error("gone"); }); },
                    ErrorKind::data),
      "stage 'files' (read.callable): gone"));
  const auto mixed = [](SampleIndex index, Sample& out) {
    if (index == 0) {
      out.field("image").set(1.0F);
    } else {
      out.field("image").set<std::int64_t>(1);
    }
  };
  const std::string text = error_message([&] { build(mixed); }, ErrorKind::data);
  CHECK(has(text, "sample 0 has float32"));
  CHECK(has(text, "has int64"));
  CHECK(has(error_message(
                [] { (void)PipelineBuilder{}.source("none", 0, nullptr).collate().copy().build(); },
                ErrorKind::data),
            "no samples"));
}

TEST_CASE("JSON text and file paths are told apart") {
  const Registry registry = toy_registry();
  const Pipeline pipeline = Pipeline::from_json(R"(  // a comment
    {"batch_size": 4, "stages": [{"use": "read.toy"}, {"use": "collate.stack"}, {"use": "copy.device"}]})",
                                                registry);
  CHECK(pipeline.batch_size() == 4);
  CHECK(pipeline.stages()[1].name == "collate");
  CHECK(has(usage_error([&] { (void)Pipeline::from_json("no/such/file.json", registry); }),
            "no/such/file.json"));
}
