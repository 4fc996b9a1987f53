// "train" of the pipeline file: models and modules that LibTorch runs.
#include <string>

#include "support/fake_registry.hpp"
#include "support/json_schema.hpp"
#include "support/spec_errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::string with_train(const std::string& train) {
  return R"({"stages": [{"use": "decode.fake"}], "train": )" + train + "}";
}

TrainSpec train_of(const std::string& train) { return parse(with_train(train)).train; }

}  // namespace

TEST_CASE("a module from a file is read with its defaults") {
  const TrainSpec train = train_of(R"({"module": "models/net.pt"})");
  CHECK(train.kind == TrainSpec::Kind::module);
  CHECK(train.module == "/base/models/net.pt");
  CHECK(train.inputs == std::vector<std::string>{"image"});
  CHECK(train.target == "label");
  CHECK(train.loss == "cross_entropy");
  CHECK(train.precision == "fp32");
  CHECK(train.memory_format == "contiguous");
  CHECK(train.accumulate == 1);
  CHECK_FALSE(train.cudnn_benchmark);
  CHECK_FALSE(train.cuda_graph);
  CHECK_FALSE(train.tf32);
}

TEST_CASE("a module's inputs and every setting of the step are read") {
  const TrainSpec train = train_of(R"({"module": "/net.pt", "inputs": ["tokens", "mask"],
      "target": "next", "loss": "mse", "precision": "fp16-mixed", "memory_format": "channels_last",
      "accumulate": 4, "cudnn_benchmark": true, "cuda_graph": true, "tf32": false, "sync_every": 1, "spin": false, "threads": 2,
      "optimizer": {"kind": "adamw"}})");
  CHECK(train.module == "/net.pt");
  CHECK(train.inputs == std::vector<std::string>{"tokens", "mask"});
  CHECK(train.target == "next");
  CHECK(train.loss == "mse");
  CHECK(train.precision == "fp16-mixed");
  CHECK(train.memory_format == "channels_last");
  CHECK(train.accumulate == 4);
  CHECK(train.cudnn_benchmark);
  CHECK(train.cuda_graph);
  CHECK(train.tf32 == false);
  CHECK(train.sync_every == 1);
  CHECK_FALSE(train.spin);
  CHECK(train.threads == 2);
  CHECK(train.optimizer.kind == "adamw");
}

TEST_CASE("what is no module and no setting of the step is refused by the parser and the schema") {
  const JsonSchema schema(pipeline_schema(fake_registry()));
  for (const char* const train :
       {R"({"module": ""})", R"({"module": 3})", R"({"module": "a.pt", "model": "lenet"})",
        R"({"module": "a.pt", "classes": 10})", R"({"module": "a.pt", "inputs": []})",
        R"({"module": "a.pt", "loss": "hinge"})", R"({"model": "lenet", "loss": "mse"})",
        R"({"model": "lenet", "precision": "fp16"})", R"({"model": "lenet", "accumulate": 0})",
        R"({"model": "lenet", "memory_format": "NHWC"})", R"({"model": "lenet", "tf32": "on"})"}) {
    CAPTURE(train);
    CHECK_FALSE(refusal(with_train(train)).empty());
    CHECK_FALSE(schema.refusal(nlohmann::json::parse(with_train(train))).empty());
  }
  CHECK(has(refusal(with_train(R"({"module": "a.pt", "modul": 1})")), "did you mean \"module\"?"));
  CHECK(has(refusal(with_train(R"({"module": "a.pt", "kind": "callback"})")), "more than one of"));
}

TEST_CASE("the schema accepts modules and settings, and the effective spec parses back") {
  const JsonSchema schema(pipeline_schema(fake_registry()));
  for (const char* const train :
       {R"({"module": "net.pt"})",
        R"({"module": "/net.pt", "loss": "output", "inputs": ["image", "label"], "tf32": true})",
        R"({"module": "net.pt", "target": "depth", "loss": "l1", "optimizer": {"kind": "adam"}})",
        R"({"model": "resnet18", "memory_format": "channels_last", "precision": "fp16-mixed"})",
        R"({"model": "lenet", "accumulate": 8, "cudnn_benchmark": true, "tf32": false})"}) {
    CAPTURE(train);
    CHECK(schema.refusal(nlohmann::json::parse(with_train(train))).empty());
    const PipelineSpec spec = parse(with_train(train));
    CHECK(schema.refusal(nlohmann::json::parse(to_json(spec))).empty());
    CHECK(parse(to_json(spec)) == spec);
  }
}
