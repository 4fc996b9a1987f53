#include "cachebisect/replay/cache/field_values.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("the values of fields, over all samples") {
  std::vector<Sample> samples(3);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto mask = samples[i].field("mask").resize_as<std::uint8_t>(Shape{2});
    mask[0] = 1;
    mask[1] = static_cast<std::uint8_t>(i);
    samples[i].field("label").set<std::int64_t>(-5 * static_cast<std::int64_t>(i));
    samples[i].field("depth").set<float>(i == 1 ? 2.5F : 300.0F);
    samples[i].field("count").set<double>(1e6 * static_cast<double>(i));
    samples[i].field("none").resize(DType::float32, Shape{0});
    samples[i].field("half").resize(DType::float16, Shape{1});
  }
  const std::vector<FieldValues> all = field_values(samples);
  REQUIRE(all.size() == 4);
  CHECK(all[0].name == "mask");
  CHECK(all[0].low == 0);
  CHECK(all[0].high == 2);
  CHECK(all[0].whole);
  CHECK(all[1].low == -10);
  CHECK(all[1].high == 0);
  CHECK_FALSE(all[2].whole);
  CHECK(all[2].high == 300);
  CHECK(all[3].whole);
  CHECK(all[3].high == 2e6);
}

TEST_CASE("what is no number is not whole, and a field that a sample lacks is left out") {
  std::vector<Sample> samples(2);
  samples[0].field("value").set<float>(std::numeric_limits<float>::quiet_NaN());
  samples[1].field("value").set<float>(1);
  CHECK_FALSE(field_values(samples).at(0).whole);
  samples[0].field("value").set<float>(std::numeric_limits<float>::infinity());
  CHECK_FALSE(field_values(samples).at(0).whole);
  samples[0].field("only").set<float>(1);
  CHECK(field_values(samples).size() == 1);
  CHECK(field_values({}).empty());
}
