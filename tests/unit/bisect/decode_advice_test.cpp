// When it is proposed to decode no more than the random crop behind it keeps.
#include <string>
#include <vector>

#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/report/words/json_patch.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

struct DecodeSituation {
  Measurements measured;
  Waterfall waterfall;

  void add(const std::string& name, const std::string& type, double bytes) {
    StageDescription described{.name = name, .type = type};
    described.category = category_of(type);
    measured.chain.stages.push_back(described);
    StageReport stage{.index = static_cast<int>(measured.chain.stages.size()), .name = name};
    stage.type = type;
    stage.category = category_of(type);
    stage.output_bytes = bytes;
    waterfall.stages.push_back(stage);
  }
};

constexpr double kImageBytes = 562'500;

DecodeSituation photos(double encoded_bytes, const std::string& crop_type,
                       const std::string& crop = R"("size": 224, "scale": [0.08, 1])") {
  DecodeSituation now;
  now.measured.chain.settings.of_file = true;
  now.measured.chain.effective_json =
      R"({"stages": [{"use": "read.image_folder", "path": "photos"},
                     {"use": "decode.image", "name": "decode", "dct": "ifast", "on_error": "skip"},
                     {"use": ")" +
      crop_type + R"(", "name": "crop", )" + crop + R"(}, {"use": "collate.stack"}]})";
  now.add("read", "read.image_folder", encoded_bytes);
  now.add("decode", "decode.image", kImageBytes);
  now.add("crop", crop_type, 150'528);
  now.add("collate", "collate.stack", 150'528);
  return now;
}

std::vector<Proposal> proposals(const DecodeSituation& now) {
  Advice advice(now.measured, now.waterfall);
  offer_less_decoding(advice, now.waterfall.stages[1]);
  return advice.proposals();
}

}  // namespace

TEST_CASE("decoding and the random crop behind it become one stage with the parameters of both") {
  const auto found = proposals(photos(70'000, "augment.random_resized_crop"));
  REQUIRE(found.size() == 1);
  const Remedy& remedy = found[0].remedy;
  CHECK(remedy.id == "decode_crop");
  CHECK(remedy.text == "decode only what crop keeps");
  REQUIRE(remedy.edits.size() == 3);
  CHECK(remedy.edits[0].path == "/stages/2");
  CHECK(remedy.edits[0].kind == EditKind::remove);
  CHECK(remedy.edits[1].path == "/stages/1");
  CHECK(remedy.edits[1].kind == EditKind::remove);
  CHECK(remedy.edits[2].path == "/stages/1");
  CHECK(remedy.edits[2].kind == EditKind::insert);
  CHECK(
      remedy.edits[2].value ==
      R"({"use":"decode.random_resized_crop","name":"crop","dct":"ifast","on_error":"skip","size":224,"scale":[0.08,1]})");
}

TEST_CASE("what is spared depends on the area of the crop, and on whether the images are JPEG") {
  const auto factors = [](const std::vector<Proposal>& found) {
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].changes);
    REQUIRE(found[0].other);
    CHECK(found[0].changes->stages.at(0).stage == 1);
    return std::pair(found[0].changes->stages.at(0).factor, found[0].other->stages.at(0).factor);
  };
  const std::string type = "augment.random_resized_crop";
  const auto usual = factors(proposals(photos(70'000, type)));
  CHECK(usual.first < usual.second);
  CHECK(usual.second < 1);
  const auto small =
      factors(proposals(photos(70'000, type, R"("size": 224, "scale": [0.1, 0.2])")));
  CHECK(small.first < usual.first);
  CHECK(small.second < usual.second);
  const auto all = factors(proposals(photos(70'000, type, R"("size": 224, "scale": [1, 1])")));
  CHECK(all.first == doctest::Approx(1));
  CHECK(all.second == doctest::Approx(1));
  const auto png = factors(proposals(photos(400'000, type)));
  CHECK(png.second == 1);
}

TEST_CASE("it is not proposed for other crops, other fields, a cache between, or jobs in code") {
  CHECK(proposals(photos(70'000, "augment.random_crop")).empty());
  CHECK(proposals(photos(70'000, "augment.random_resized_crop",
                         R"("size": 224, "scale": [0.08, 1], "fields": ["image", "mask"])"))
            .empty());
  CHECK(proposals(photos(70'000, "cache.memory", R"("limit_gb": 1)")).empty());
  DecodeSituation code = photos(70'000, "augment.random_resized_crop");
  code.measured.chain.settings.of_file = false;
  CHECK(proposals(code).empty());
  DecodeSituation unknown = photos(70'000, "augment.random_resized_crop");
  unknown.measured.chain.effective_json.clear();
  CHECK(proposals(unknown).empty());
  CHECK(
      proposals(photos(70'000, "augment.random_resized_crop", R"("scale": "all of it")")).empty());
}

TEST_CASE("JPEG is decoded at half its size where training sees a quarter of it or less") {
  DecodeSituation now = photos(70'000, "augment.random_crop", R"("size": 200)");
  CHECK(proposals(now).empty());
  now.waterfall.stages[2].output_bytes = 120'000;
  const auto found = proposals(now);
  REQUIRE(found.size() == 1);
  CHECK(found[0].remedy.id == "partial_decode");
  CHECK(json_patch(found[0].remedy.edits) ==
        R"([{"op":"add","path":"/stages/1/scale","value":2}])");
  CHECK(found[0].changes->stages[0].factor == doctest::Approx(0.7));
  CHECK(found[0].other->stages[0].factor == doctest::Approx(0.8875));
  now.waterfall.stages[0].output_bytes = 500'000;  // As PNG.
  CHECK(proposals(now).empty());
}

TEST_CASE("no part of an image that is decoded at another size is proposed") {
  DecodeSituation now = photos(70'000, "augment.random_resized_crop");
  std::string& json = now.measured.chain.effective_json;
  json.replace(json.find(R"("dct")"), 0, R"("scale": 2, )");
  now.waterfall.stages[2].output_bytes = 50'000;
  CHECK(proposals(now).empty());
}
