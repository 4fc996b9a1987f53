#include "cachebisect/bisect/advice/remedy_edits.hpp"

#include "support/all_stages.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

using namespace cachebisect;
using nlohmann::json;
using test::all_stages;

namespace {

const char* const kFile = R"({
  "stages": [
    {"use": "read.cifar10", "path": "/nowhere"},
    {"use": "decode.cifar"},
    {"use": "augment.to_float"},
    {"use": "augment.normalize", "name": "norm", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.2, 0.1]},
    {"use": "augment.one_hot", "classes": 10},
    {"use": "collate.stack", "layout": "NHWC"},
    {"use": "copy.device"}
  ],
  "train": {"kind": "emulated"}, "device": "emulated"})";

ChainDescription chain_of(const std::string& file) {
  const PipelineSpec spec = parse_pipeline(file, "test", all_stages(), {});
  ChainDescription chain;
  chain.effective_json = to_json(spec);
  for (const StageSpec& stage : spec.stages) {
    StageDescription description;
    description.type = stage.use;
    description.category = category_of(stage.use);
    description.kind = all_stages().stage(stage.use).kind;
    chain.stages.push_back(description);
  }
  return chain;
}

/// The pipeline with the edits applied, parsed as the tool would parse it.
PipelineSpec edited(const ChainDescription& chain, const std::vector<Edit>& edits) {
  json patch = json::array();
  for (const Edit& edit : edits) {
    const json value = json::parse(edit.value);
    if (value.is_null()) {
      patch.push_back({{"op", "remove"}, {"path", edit.path}});
    } else {
      patch.push_back({{"op", "add"}, {"path", edit.path}, {"value", value}});
    }
  }
  return parse_pipeline(json::parse(chain.effective_json).patch(patch).dump(), "edited",
                        all_stages(), {});
}

}  // namespace

TEST_CASE("normalize moves to the device with its mean and std, and the edited file parses") {
  const ChainDescription chain = chain_of(kFile);
  const PipelineSpec spec = edited(chain, move_to_device(chain, {3}));
  REQUIRE(spec.stages.size() == 7);
  CHECK(spec.stages.back().use == "device.normalize");
  CHECK(spec.stages.back().params.numbers("mean") == std::vector<double>{0.5, 0.4, 0.3});
  CHECK(spec.stages.back().params.numbers("std") == std::vector<double>{0.2, 0.2, 0.1});
  CHECK(spec.stages.back().params.string("layout") == "NHWC");
  CHECK(spec.stages[2].use == "augment.to_float");
}

TEST_CASE("to_float and normalize move together") {
  const ChainDescription chain = chain_of(kFile);
  const PipelineSpec spec = edited(chain, move_to_device(chain, {2, 3}));
  REQUIRE(spec.stages.size() == 6);
  CHECK(spec.stages.back().use == "device.normalize");
  CHECK(spec.stages[2].use == "augment.one_hot");
}

TEST_CASE("one_hot keeps its classes on the device") {
  const ChainDescription chain = chain_of(kFile);
  const PipelineSpec spec = edited(chain, move_to_device(chain, {4}));
  CHECK(spec.stages.back().use == "device.one_hot");
  CHECK(spec.stages.back().params.integer("classes") == 10);
  CHECK(spec.stages.back().fields == std::vector<std::string>{"label"});
}

TEST_CASE("what draws moves under its name, with what follows it") {
  ChainDescription chain = chain_of(R"({
    "stages": [
      {"use": "read.cifar10", "path": "/nowhere"},
      {"use": "decode.cifar"},
      {"use": "augment.random_crop", "name": "crop", "size": 32, "padding": 4},
      {"use": "augment.one_hot", "classes": 10},
      {"use": "augment.horizontal_flip"},
      {"use": "augment.color_jitter", "hue": 0.1, "on_error": "skip"},
      {"use": "augment.to_float"},
      {"use": "augment.normalize", "mean": [0.5], "std": [0.2]},
      {"use": "collate.stack", "layout": "NHWC"},
      {"use": "copy.device"}
    ],
    "train": {"kind": "emulated"}, "device": "emulated"})");
  for (StageDescription& stage : chain.stages) {
    stage.output = "image uint8 [32, 32, 3], label int64 []";
  }
  CHECK(stages_to_move(chain, 2) == std::vector<std::size_t>{2, 4, 5, 6, 7});
  CHECK(stages_to_move(chain, 3) == std::vector<std::size_t>{3});
  CHECK(stages_to_move(chain, 5) == std::vector<std::size_t>{5, 6, 7});
  CHECK(stages_to_move(chain, 1).empty());
  const PipelineSpec spec = edited(chain, move_to_device(chain, stages_to_move(chain, 2)));
  std::vector<std::string> uses;
  for (const StageSpec& stage : spec.stages) uses.push_back(stage.use);
  CHECK(uses == std::vector<std::string>{"read.cifar10", "decode.cifar", "augment.one_hot",
                                         "collate.stack", "copy.device", "device.random_crop",
                                         "device.horizontal_flip", "device.color_jitter",
                                         "device.normalize"});
  CHECK(spec.stages[5].name == "crop");
  CHECK(spec.stages[5].params.integer("padding") == 4);
  CHECK(spec.stages[5].params.string("layout") == "NHWC");
  CHECK(spec.stages[6].name == "horizontal_flip");
}

TEST_CASE("images of different sizes stay where they are, and what the device cannot do") {
  ChainDescription chain = chain_of(R"({
    "stages": [
      {"use": "read.image_folder", "path": "/nowhere"},
      {"use": "decode.image"},
      {"use": "augment.horizontal_flip"},
      {"use": "augment.resize", "size": 32},
      {"use": "augment.vertical_flip"},
      {"use": "augment.gaussian_blur", "kernel_size": 3},
      {"use": "augment.horizontal_flip"},
      {"use": "collate.stack"},
      {"use": "copy.device"}
    ],
    "train": {"kind": "emulated"}, "device": "emulated"})");
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    chain.stages[s].output =
        s < 3 ? "image uint8 [?, ?, 3], label int64 []" : "image uint8 [32, 32, 3], label int64 []";
  }
  CHECK(stages_to_move(chain, 2).empty());
  CHECK(stages_to_move(chain, 4).empty());
  CHECK(stages_to_move(chain, 6) == std::vector<std::size_t>{6});
  for (StageDescription& stage : chain.stages) stage.output.clear();
  CHECK(stages_to_move(chain, 6).empty());
}

TEST_CASE("there is no edit if a later stage needs the output or the pipeline is unknown") {
  ChainDescription chain = chain_of(kFile);
  CHECK(move_to_device(chain, {2}).empty());  // normalize follows
  CHECK(move_to_device(chain, {}).empty());
  chain.effective_json.clear();
  CHECK(move_to_device(chain, {3}).empty());
  std::string with_device(kFile);
  const std::string copy = R"({"use": "copy.device"})";
  with_device.replace(with_device.find(copy), copy.size(),
                      copy + R"(, {"use": "device.cast", "dtype": "float16"})");
  CHECK(move_to_device(chain_of(with_device), {3}).empty());
}
