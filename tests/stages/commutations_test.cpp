// The table of commutations, run: every stage in it and a crop, in both orders, bit by bit.
#include "cachebisect/bisect/advice/commutations.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "stages/conformance.hpp"
#include "support/sanitized.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kSwapSamples = kIsSanitized ? 20 : 60;

/// A stage that is made of the JSON of a pipeline file.
std::shared_ptr<SampleStage> made_of(const ordered_json& json) {
  const StageType& type = all_stages().stage(json.at("use").get<std::string>());
  Params params;
  for (const ParamSpec& spec : type.params) {
    if (json.contains(spec.name)) params.set(spec.name, value_of(spec, json.at(spec.name)));
  }
  auto stage = make<SampleStage>(type, std::move(params));
  REQUIRE(stage);
  return stage;
}

/// A sample whose image has random bytes, no fewer than 30 pixels on a side.
struct SwapInput {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 3;
  DType dtype = DType::uint8;

  [[nodiscard]] Sample sample(std::uint64_t index) const {
    Sample sample;
    sample.set_index({index});
    fill(sample.field("image"), dtype, Shape{height, width, channels}, index);
    sample.field("label").set(static_cast<std::int64_t>(index % 10));
    return sample;
  }
  [[nodiscard]] SampleSpec spec() const {
    return {{"image", dtype, Shape{height, width, channels}}, {"label", DType::int64, Shape{}}};
  }
};

/// What a chain of two stages gives for a sample, with its draws keyed as in a pipeline.
std::vector<std::byte> run_both(const ordered_json& first, const ordered_json& second,
                                const SwapInput& input, std::uint64_t index) {
  Arena arena;
  Sample between = input.sample(index);
  SampleSpec spec = input.spec();
  for (const ordered_json* json : {&first, &second}) {
    const auto stage = made_of(*json);
    spec = stage->infer(spec);
    Sample out;
    out.begin_from(between);
    const RandomKey key{.seed = 5,
                        .epoch = 2,
                        .index = index,
                        .stage = hash_name(json->at("use").get<std::string>())};
    stage->process(between, out, SampleContext(key, arena));
    Sample kept;
    for (const auto& field : out.fields()) {
      const auto bytes = bytes_of(field.field.view());
      const TensorView to = kept.field(field.name).resize(field.field.dtype(), field.field.shape());
      std::memcpy(to.data, bytes.data(), bytes.size());
    }
    kept.set_index({index});
    between = std::move(kept);
  }
  return bytes_of(between);
}

/// How many samples differ between the two orders.
std::size_t differing(const ordered_json& stage, const ordered_json& crop, const SwapInput& input) {
  std::size_t count = 0;
  for (std::uint64_t index = 0; index < kSwapSamples; ++index) {
    if (run_both(stage, crop, input, index) != run_both(crop, stage, input, index)) ++count;
  }
  return count;
}

ordered_json stage_of(const std::string& use, const char* params) {
  ordered_json json = ordered_json::parse(params);
  json["use"] = use;
  return json;
}

/// Parameters to try of each stage of the table.
std::vector<ordered_json> variants(const std::string& use) {
  if (use == "augment.color_jitter") {
    return {stage_of(use, R"({"brightness": 0.4})"), stage_of(use, R"({"saturation": 0.4})"),
            stage_of(use, R"({"hue": 0.2})"),
            stage_of(use, R"({"brightness": 0.4, "saturation": 0.4, "hue": 0.1})"),
            stage_of(use, R"({"brightness": 0.4, "contrast": 0.4})")};
  }
  if (use == "augment.grayscale") {
    return {stage_of(use, R"({"p": 0.5})"), stage_of(use, R"({"p": 1, "channels": 1})")};
  }
  if (use == "augment.cast") {
    return {stage_of(use, R"({"dtype": "float16"})"), stage_of(use, R"({"dtype": "bfloat16"})")};
  }
  if (use == "augment.normalize") {
    return {stage_of(use, R"({"mean": [0.48, 0.45, 0.4], "std": [0.2, 0.3, 0.25]})"),
            stage_of(use, R"({"mean": [0.5], "std": [0.1]})")};
  }
  if (use == "augment.rotate") return {stage_of(use, R"({"degrees": [-40, 40]})")};
  const StageType& type = all_stages().stage(use);
  return {stage_of(use, type.example.c_str())};
}

std::vector<ordered_json> crops() {
  return {stage_of("augment.random_crop", R"({"size": 17})"),
          stage_of("augment.random_crop", R"({"height": 13, "width": 20, "padding": 3})"),
          stage_of("augment.center_crop", R"({"height": 17, "width": 22})"),
          stage_of("augment.center_crop", R"({"height": 18, "width": 21})"),
          stage_of("augment.center_crop", R"({"size": 50})")};
}

std::vector<SwapInput> swap_inputs() {
  return {{31, 37, 3, DType::uint8}, {40, 48, 1, DType::uint8}, {32, 37, 3, DType::float32}};
}

bool accepts_both(const ordered_json& stage, const ordered_json& crop, const SwapInput& input) {
  try {
    (void)run_both(stage, crop, input, 0);
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    return false;
  }
}

/// "image" before the crop; `dynamic`: as of samples that differ in size.
ImageSides sides_of(const SwapInput& input, bool dynamic) {
  if (dynamic) return {};
  return {.height = input.height, .width = input.width, .least = 0};
}

ordered_json of_label(ordered_json stage) {
  if (stage["use"] == "augment.one_hot") stage["fields"] = {"label"};
  return stage;
}

}  // namespace

TEST_CASE("what the table lets change places gives the same bits in both orders") {
  for (const Commutation& entry : commutations()) {
    std::size_t allowed = 0;
    for (const ordered_json& stage : variants(std::string(entry.stage))) {
      for (const ordered_json& crop : crops()) {
        for (const SwapInput& input : swap_inputs()) {
          if (!accepts_both(of_label(stage), crop, input)) continue;
          const bool other_fields = entry.swap == Swap::other_fields;
          const std::string why =
              other_fields ? "" : why_not_swapped(stage, crop, sides_of(input, false));
          if (!why.empty()) continue;
          CAPTURE(stage.dump());
          CAPTURE(crop.dump());
          CAPTURE(Shape({input.height, input.width, input.channels}).to_string());
          CHECK(differing(of_label(stage), crop, input) == 0);
          ++allowed;
        }
      }
    }
    CAPTURE(entry.stage);
    CHECK((allowed > 0) == (entry.swap != Swap::changes));
  }
}

TEST_CASE("what the table refuses does differ, on some input") {
  for (const Commutation& entry : commutations()) {
    for (const ordered_json& stage : variants(std::string(entry.stage))) {
      for (const ordered_json& crop : crops()) {
        std::size_t tried = 0;
        std::size_t differ = 0;
        for (const SwapInput& input : swap_inputs()) {
          if (entry.swap == Swap::other_fields || !accepts_both(stage, crop, input)) continue;
          const std::string why = why_not_swapped(stage, crop, sides_of(input, false));
          if (why.empty()) continue;
          ++tried;
          differ += differing(stage, crop, input);
        }
        CAPTURE(stage.dump());
        CAPTURE(crop.dump());
        CHECK((differ > 0) == (tried > 0));
      }
    }
  }
}

TEST_CASE("samples of unknown sizes change places with what cannot pad them") {
  const ordered_json normalize = stage_of("augment.normalize", R"({"mean": [0.5], "std": [0.1]})");
  const ordered_json centre = stage_of("augment.center_crop", R"({"size": 30})");
  const ordered_json random = stage_of("augment.random_crop", R"({"size": 30})");
  CHECK_FALSE(why_not_swapped(normalize, centre, {}).empty());
  CHECK(why_not_swapped(normalize, centre, {.height = {}, .width = {}, .least = 30}).empty());
  CHECK(why_not_swapped(normalize, random, {}).empty());
  CHECK(why_not_swapped(stage_of("augment.to_float", "{}"), centre, {}).empty());
  CHECK_FALSE(
      why_not_swapped(stage_of("augment.horizontal_flip", R"({"p": 1})"), centre, {}).empty());
}

TEST_CASE("the table says of built-in stages what their types say") {
  for (const Commutation& entry : commutations()) {
    CAPTURE(entry.stage);
    const StageType& type = all_stages().stage(entry.stage);
    CHECK(type.kind == StageKind::sample);
    CHECK(type.traits.strided_output == entry.writes_rows);
    CHECK_FALSE(type.traits.stateful);
    CHECK((entry.swap == Swap::changes) == !entry.why.empty());
  }
  CHECK(std::ranges::is_sorted(commutations(), {}, &Commutation::stage));
  CHECK(commutation_of("augment.of_a_plugin") == nullptr);
  for (const char* crop : {"augment.center_crop", "augment.random_crop"}) {
    CHECK(is_crop(crop));
    CHECK(commutation_of(crop) == nullptr);
  }
}
