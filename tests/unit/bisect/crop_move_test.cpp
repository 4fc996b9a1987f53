// Crops of a pipeline file that can run before the stages in front of them.
#include "cachebisect/bisect/advice/crop_move.hpp"

#include <string>
#include <vector>

#include "support/all_stages.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/report/words/json_patch.hpp"

using namespace cachebisect;
using test::all_stages;
using test::has;

namespace {

/// Stages between decode and collate, with what each gives.
struct AugmentStage {
  std::string json;
  std::string output;
};

ChainDescription augmented_chain(
    const std::vector<AugmentStage>& augments,
    const std::string& decoded = "image uint8 [64, 64, 3], label int64 []") {
  std::string stages = R"({"use": "read.image_folder", "path": "/nowhere"},)";
  stages += R"({"use": "decode.image"},)";
  for (const AugmentStage& each : augments) stages += each.json + ",";
  const std::string file = R"({"stages": [)" + stages +
                           R"({"use": "collate.stack"}, {"use": "copy.device"}],
                           "train": {"kind": "emulated"}, "device": "emulated"})";
  const PipelineSpec spec = parse_pipeline(file, "test", all_stages(), {});
  ChainDescription chain;
  chain.effective_json = to_json(spec);
  for (std::size_t s = 0; s < spec.stages.size(); ++s) {
    const StageSpec& stage = spec.stages[s];
    StageDescription& described = chain.stages.emplace_back();
    described.name = stage.name.empty() ? stage.use.substr(stage.use.find('.') + 1) : stage.name;
    described.type = stage.use;
    described.kind = all_stages().stage(stage.use).kind;
    if (s == 1) described.output = decoded;
    if (s >= 2 && s < 2 + augments.size()) described.output = augments[s - 2].output;
  }
  return chain;
}

const std::string kWholeImage = "image uint8 [64, 64, 3], label int64 []";
const std::string kFloatImage = "image float32 [64, 64, 3], label int64 []";
const std::string kCroppedImage = "image float32 [32, 32, 3], label int64 []";
const std::string kDynamicImage = "image float32 [?, ?, 3], label int64 []";

const AugmentStage kToFloatStage{R"({"use": "augment.to_float"})", kFloatImage};
const AugmentStage kNormalizeStage{R"({"use": "augment.normalize", "mean": [0.5], "std": [0.2]})",
                                   kFloatImage};
const AugmentStage kJitterStage{R"({"use": "augment.color_jitter", "hue": 0.1})", kWholeImage};
const AugmentStage kContrastStage{R"({"use": "augment.color_jitter", "contrast": 0.1})",
                                  kWholeImage};
const AugmentStage kBlurStage{R"({"use": "augment.gaussian_blur", "kernel_size": 3})", kWholeImage};
const AugmentStage kCropStage{R"({"use": "augment.random_crop", "name": "cut", "size": 32})",
                              kCroppedImage};
const AugmentStage kCenterStage{R"({"use": "augment.center_crop", "size": 32})", kCroppedImage};

std::vector<std::string> names_after(const ChainDescription& chain, const CropMove& move) {
  const PipelineSpec spec = parse_pipeline(chain.effective_json, "test", all_stages(), {});
  std::vector<std::string> names;
  for (const StageSpec& stage :
       patch_pipeline(spec, all_stages(), json_patch(edits_of(chain, move))).stages) {
    names.push_back(stage.name.empty() ? stage.use : stage.name);
  }
  return names;
}

}  // namespace

TEST_CASE("a crop goes up as far as outputs stay the same") {
  const ChainDescription chain =
      augmented_chain({kContrastStage, kJitterStage, kToFloatStage, kNormalizeStage, kCropStage});
  const auto move = find_crop(chain, 5);
  REQUIRE(move);
  CHECK(move->why.empty());
  CHECK(move->crop == 6);
  CHECK(move->first == 3);  // Behind the jitter of contrast.
  CHECK(move->spared == std::vector<std::size_t>{3, 4, 5});
  CHECK(move->left == doctest::Approx(0.25));
  CHECK_FALSE(move->adds_copy);
  const auto names = names_after(chain, *move);
  REQUIRE(names.size() == 9);
  CHECK(names[3] == "cut");
  CHECK(names[4] == "color_jitter_2");
  CHECK(names[6] == "normalize");
}

TEST_CASE("what moves keeps the name that its draws are keyed by") {
  ChainDescription chain = augmented_chain({kToFloatStage, kCenterStage});
  chain.stages[3].name = "center_crop_7";
  const auto move = find_crop(chain, 2);
  REQUIRE(move);
  CHECK(names_after(chain, *move)[2] == "center_crop_7");
}

TEST_CASE("the reason is given where outputs would change") {
  const auto why = [](const std::vector<AugmentStage>& augments,
                      const std::string& decoded = kWholeImage) {
    const auto move = find_crop(augmented_chain(augments, decoded), 2);
    return move ? move->why : std::string("no crop");
  };
  CHECK(why({kJitterStage, kCropStage}).empty());
  CHECK(has(why({kContrastStage, kCropStage}), "color_jitter: its contrast depends on the mean"));
  CHECK(has(why({kJitterStage, kBlurStage, kCropStage}),
            "gaussian_blur: a blur reads the pixels around"));
  CHECK(has(why({{R"({"use": "cache.memory", "limit_gb": 1})", kWholeImage}, kCropStage}),
            "nothing is known of it"));
  const AugmentStage dynamic{kNormalizeStage.json, kDynamicImage};
  CHECK(has(why({dynamic, kCenterStage}, "image uint8 [?, ?, 3]"), "may be smaller than the crop"));
  CHECK(why({dynamic, kCropStage}, "image uint8 [?, ?, 3]").empty());
}

TEST_CASE("a resize to a shorter side says that no sample is smaller than the crop") {
  const AugmentStage dynamic{kNormalizeStage.json, kDynamicImage};
  const auto resized = [](const char* side) {
    return AugmentStage{R"({"use": "augment.resize", "shorter_side": )" + std::string(side) + "}",
                        kDynamicImage};
  };
  const auto move = find_crop(augmented_chain({resized("40"), dynamic, kCenterStage}), 3);
  REQUIRE(move);
  CHECK(move->why.empty());
  CHECK(move->first == 3);
  CHECK_FALSE(find_crop(augmented_chain({resized("20"), dynamic, kCenterStage}), 3)->why.empty());
}

TEST_CASE("no crop, one that leaves all pixels, or one in front: nothing to move") {
  CHECK_FALSE(find_crop(augmented_chain({kToFloatStage, kNormalizeStage}), 3));
  const AugmentStage whole{R"({"use": "augment.random_crop", "size": 64, "padding": 4})",
                           kFloatImage};
  CHECK_FALSE(find_crop(augmented_chain({kToFloatStage, whole}), 2));
  CHECK_FALSE(find_crop(augmented_chain({kCenterStage, {kToFloatStage.json, kCroppedImage}}), 3));
  ChainDescription unknown = augmented_chain({kToFloatStage, kCropStage});
  unknown.effective_json.clear();
  CHECK_FALSE(find_crop(unknown, 2));
}

TEST_CASE("a recording that somebody wrote by hand moves nothing") {
  ChainDescription chain = augmented_chain({kToFloatStage, kCropStage});
  const auto good = nlohmann::json::parse(chain.effective_json);
  const auto replaced = [&](std::size_t stage, const char* key, const nlohmann::json& value) {
    nlohmann::json json = good;
    json["stages"][stage][key] = value;
    chain.effective_json = json.dump();
    return find_crop(chain, 2);
  };
  CHECK_FALSE(replaced(2, "use", 3));
  CHECK_FALSE(replaced(2, "fields", 3));
  CHECK_FALSE(replaced(3, "fields", nlohmann::json::array()));
  const auto other = replaced(2, "use", "augment.of_a_plugin");
  REQUIRE(other);
  CHECK(has(other->why, "nothing is known of it"));
}

TEST_CASE("other fields do not stand in the way, and are not counted as gained") {
  const AugmentStage one_hot{R"({"use": "augment.one_hot", "classes": 10})", kFloatImage};
  const auto move = find_crop(augmented_chain({kToFloatStage, one_hot, kCropStage}), 2);
  REQUIRE(move);
  CHECK(move->why.empty());
  CHECK(move->first == 2);
  CHECK(move->spared == std::vector<std::size_t>{2});
}

TEST_CASE("a last stage that cannot write into the batch costs a copy more") {
  const auto move = find_crop(augmented_chain({kJitterStage, kCropStage}), 2);
  REQUIRE(move);
  CHECK(move->adds_copy);
}
