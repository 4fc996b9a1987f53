// The published schema and the parser agree.
#include <string>

#include "support/all_stages.hpp"
#include "support/json_schema.hpp"
#include "support/spec_errors.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

class PipelineSchema {
 public:
  explicit PipelineSchema(const Registry& registry) : schema_(pipeline_schema(registry)) {}
  [[nodiscard]] bool accepts(const std::string& text) const {
    return schema_.refusal(json::parse(text, nullptr, true, true)).empty();
  }

 private:
  JsonSchema schema_;
};

}  // namespace

TEST_CASE("valid files are accepted, and so is their effective form") {
  const PipelineSchema schema(fake_registry());
  CHECK(schema.accepts(kFakePipeline));
  CHECK(schema.accepts(to_json(parse(kFakePipeline))));
  for (const char* extra :
       {R"("workers": "auto")", R"("workers": 0)",
        R"("train": {"kind": "callback", "spin": false})",
        R"("train": {"kind": "emulated", "sync_every": 1})",
        R"("train": {"use": "my.step", "rate": 0.2, "sync_every": 1, "spin": false})",
        R"("train": {"model": "mlp", "optimizer": {"kind": "adamw", "lr": 0.1}})",
        R"("train": {"model": "mlp", "optimizer": {"lr": 0.1, "momentum": 0.5}})",
        R"("device": "cuda:1")", R"("loader": "batch")", R"("emulate": {})",
        R"("emulate": {"jitter": {"kind": "none"}})"}) {
    CAPTURE(extra);
    const std::string text =
        R"({"stages": [{"use": "decode.fake", "name": "d2", "on_error": "skip"}], )" +
        std::string(extra) + "}";
    CHECK(schema.accepts(text));
    CHECK(refusal(text).empty());
  }
}

TEST_CASE("the schema refuses what the parser refuses") {
  const PipelineSchema schema(fake_registry());
  for (const char* extra :
       {R"("batchsize": 3)",
        R"("batch_size": 0)",
        R"("batch_size": 1.5)",
        R"("batch_size": "64")",
        R"("workers": -1)",
        R"("workers": "many")",
        R"("prefetch": 65)",
        R"("loader": "worker")",
        R"("shuffle": 1)",
        R"("name": "")",
        R"("device": "cudaa")",
        R"("device": "cuda:")",
        R"("train": {})",
        R"("train": 3)",
        R"("train": {"kind": "callbak"})",
        R"("train": {"kind": "callback", "model": "lenet"})",
        R"("train": {"model": "lennet"})",
        R"("train": {"model": "lenet", "threads": 0})",
        R"("train": {"model": "lenet", "clases": 3})",
        R"("train": {"use": "my.stop"})",
        R"("train": {"use": "my.step", "rate": 2})",
        R"("train": {"model": "lenet", "optimizer": {"lr": 0}})",
        R"("train": {"model": "lenet", "optimizer": {"kind": "adam", "momentum": 0.9}})",
        R"("train": {"model": "lenet", "optimizer": {"kind": "rms"}})",
        R"("emulate": {"step_ms": 0})",
        R"("emulate": {"stepms": 3})",
        R"("emulate": {"clock_drop": 1})",
        R"("emulate": {"clock_drop": -0.1})",
        R"("emulate": {"launches": 0})",
        R"("emulate": {"launches": 1.5})",
        R"("emulate": {"launch_us": -1})",
        R"("emulate": {"launch_queue": 0})",
        R"("emulate": {"jitter": {"kind": "normal"}})"}) {
    CAPTURE(extra);
    const std::string text = R"({"stages": [{"use": "decode.fake"}], )" + std::string(extra) + "}";
    CHECK_FALSE(schema.accepts(text));
    CHECK_FALSE(refusal(text).empty());
  }
  for (const char* stage :
       {R"({})", R"(3)", R"({"use": 1})", R"({"use": "augment.random_corp"})",
        R"({"use": "augment.random_crop"})", R"({"use": "augment.random_crop", "size": 0})",
        R"({"use": "augment.random_crop", "size": "28"})",
        R"({"use": "augment.random_crop", "size": 28, "sise": 1})",
        R"({"use": "augment.normalize", "mean": [1], "std": [0]})",
        R"({"use": "augment.normalize", "mean": [1,2,3,4,5], "std": [1]})",
        R"({"use": "augment.normalize", "mean": ["a"], "std": [1]})",
        R"({"use": "read.fake", "path": "x", "split": "val"})",
        R"({"use": "read.fake", "path": ""})", R"({"use": "collate.fake", "on_error": "skip"})",
        R"({"use": "collate.fake", "fields": ["a"]})", R"({"use": "decode.fake", "fields": []})",
        R"({"use": "decode.fake", "name": "Crop"})", R"({"use": "decode.fake", "name": "12"})",
        R"({"use": "synthetic.wait", "us": 1, "jitter": {"kind": "pareto", "cv": -1}})"}) {
    CAPTURE(stage);
    const std::string text = R"({"stages": [)" + std::string(stage) + "]}";
    CHECK_FALSE(schema.accepts(text));
    CHECK_FALSE(refusal(text).empty());
  }
  CHECK_FALSE(schema.accepts("{}"));
  CHECK_FALSE(schema.accepts(R"({"stages": []})"));
}

TEST_CASE("the schema documents what it allows") {
  const json schema = json::parse(pipeline_schema(fake_registry()));
  CHECK(schema["$schema"] == "http://json-schema.org/draft-07/schema#");
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["properties"]["batch_size"]["description"] == "samples in a batch");
  CHECK(schema["properties"]["stages"]["items"]["properties"]["use"]["enum"].size() ==
        fake_registry().stages().size());
}

TEST_CASE("an empty registry and the built-in stages have a schema") {
  CHECK_NOTHROW(PipelineSchema{Registry()});
  const Registry& registry = all_stages();
  const PipelineSchema schema(registry);
  for (const StageType& type : registry.stages()) {
    CAPTURE(type.type);
    PipelineSpec spec;
    spec.stages = {
        parse_stage(type.example, type, {.base_folder = "/base", .cache_folder = "/cache"})};
    CHECK(schema.accepts(to_json(spec)));
  }
}
