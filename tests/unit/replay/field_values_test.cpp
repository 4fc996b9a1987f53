#include "cachebisect/replay/cache/field_values.hpp"

#include <limits>

#include "support/all_stages.hpp"
#include "support/test_chain.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

/// Says that it reads these fields.
class ReadingStep final : public TrainStep {
 public:
  explicit ReadingStep(std::vector<ExpectedField> fields) : fields_(std::move(fields)) {}
  [[nodiscard]] std::string name() const override { return "reading"; }
  [[nodiscard]] std::vector<ExpectedField> expects() const override { return fields_; }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override {}

 private:
  std::vector<ExpectedField> fields_;
};

}  // namespace

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
  CHECK(all[0].nonzero == 2);
  CHECK(all[1].low == -10);
  CHECK(all[1].high == 0);
  CHECK(all[1].nonzero == 1);
  CHECK_FALSE(all[2].whole);
  CHECK(all[2].high == 300);
  CHECK(all[3].whole);
  CHECK(all[3].high == 2e6);
}

TEST_CASE("fields that neither the step nor a stage behind collate names are unused") {
  const auto marked = [](const Pipeline& pipeline, const std::string& read) {
    std::vector<FieldValues> fields{{.name = "image"}, {.name = "label"}};
    const std::vector<ExpectedField> expected{{.name = read}};
    mark_unused(fields, pipeline,
                ReadingStep(read.empty() ? std::vector<ExpectedField>{} : expected));
    return std::pair{fields[0].unused, fields[1].unused};
  };
  const auto chain = [](const std::string& last) {
    return Pipeline::from_json(R"({"stages": [{"use": "synthetic.read", "samples": 8},
      {"use": "collate.stack"}, {"use": "copy.device"})" +
                                   last + R"(],
      "batch_size": 2, "train": {"kind": "emulated"}, "device": "emulated"})",
                               test::all_stages());
  };
  const std::string cast = R"(, {"use": "device.cast", "dtype": "float32", "fields": ["image"]})";
  CHECK(marked(chain(""), "label") == std::pair{true, false});
  CHECK(marked(chain(""), "image") == std::pair{false, true});
  CHECK(marked(chain(cast), "label") == std::pair{false, false});
  CHECK(marked(chain(""), "") == std::pair{false, false});
  // Nothing is known of what this stage reads.
  PipelineBuilder builder;
  builder.source("read", 8, [](SampleIndex, Sample& out) { out.field("image").set<float>(1); });
  builder.collate().copy().stage({"custom", {}, std::make_shared<test::ShiftOnDevice>()});
  CHECK(marked(builder.batch_size(2).device("cpu").build(), "label") == std::pair{false, false});
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
