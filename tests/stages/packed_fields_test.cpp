// Whole numbers in fewer bits before the copy, and what the device makes of them: the same values.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "stages/conformance.hpp"
#include "support/errors.hpp"
#include "support/recording_step.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/stages.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

template <class T>
void write_mask(SampleIndex index, Sample& out, const Shape& shape, int values) {
  const auto mask = out.field("mask").resize_as<T>(shape);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask[i] = static_cast<T>((index * 5 + i * i + i / 3) % static_cast<std::size_t>(values));
  }
}

struct Masks {
  DType dtype = DType::uint8;
  Shape shape;
  int values = 2;
};

void write_masks(const Masks& masks, SampleIndex index, Sample& out) {
  switch (masks.dtype) {
    case DType::int64:
      return write_mask<std::int64_t>(index, out, masks.shape, masks.values);
    case DType::int32:
      return write_mask<std::int32_t>(index, out, masks.shape, masks.values);
    case DType::float32:
      return write_mask<float>(index, out, masks.shape, masks.values);
    case DType::float64:
      return write_mask<double>(index, out, masks.shape, masks.values);
    default:
      return write_mask<std::uint8_t>(index, out, masks.shape, masks.values);
  }
}

BuiltStage built(const std::string& type, const std::string& params) {
  return stages::make(type, params);
}

/// What reaches the step, with these stages before and behind the copy.
std::vector<SeenBatch> batches(const Masks& masks, const std::optional<BuiltStage>& before,
                               const std::optional<BuiltStage>& after) {
  PipelineBuilder builder;
  builder.source("read", 24,
                 [masks](SampleIndex index, Sample& out) { write_masks(masks, index, out); });
  if (before) builder.stage(*before);
  builder.stage(built("collate.stack", R"({"layout": "NCHW"})")).stage(built("copy.device", "{}"));
  if (after) builder.stage(*after);
  const auto step = std::make_shared<RecordingStep>();
  PipelineReplayer replayer(builder.batch_size(4).workers(1).device("cpu").build(),
                            make_cpu_device(), step,
                            {.io = IoMode::as_is, .workers = 1, .keep_queues = false});
  replayer.prepare({}, {});
  replayer.run({{ArmKind::live, 0, 0, {}}, 9, 0, 0}, {});
  return step->seen;
}

std::string refusal(const std::string& type, const std::string& params, const Masks& masks) {
  Sample input;
  input.set_index({3});
  write_masks(masks, {3}, input);
  const auto stage = std::dynamic_pointer_cast<SampleStage>(built(type, params).stage);
  return error_of([&] {
    static_cast<void>(stage->infer({{"mask", masks.dtype, masks.shape}}));
    Arena arena;
    Sample out;
    out.begin_from(input);
    stage->process(input, out, SampleContext({}, arena));
  });
}

}  // namespace

TEST_CASE("bits and narrow numbers reach the step as they were, in every type") {
  for (const DType dtype :
       {DType::uint8, DType::int32, DType::int64, DType::float32, DType::float64}) {
    const std::string type(to_string(dtype));
    CAPTURE(type);
    const Masks masks{dtype, Shape{6, 4}, 2};
    const auto wanted = batches(masks, {}, {});
    CHECK(batches(masks, built("augment.pack_bits", R"({"fields": ["mask"]})"),
                  built("device.unpack_bits",
                        R"({"fields": ["mask"], "shape": [6, 4], "dtype": ")" + type + "\"}")) ==
          wanted);
    if (dtype == DType::uint8) continue;
    const Masks labels{dtype, Shape{5, 3}, 250};
    CHECK(batches(labels, built("augment.narrow", R"({"fields": ["mask"], "dtype": "uint8"})"),
                  built("device.cast", R"({"fields": ["mask"], "dtype": ")" + type + "\"}")) ==
          batches(labels, {}, {}));
  }
}

TEST_CASE("fields that are mostly zeros reach the step as they were, in every type") {
  for (const DType dtype :
       {DType::uint8, DType::int32, DType::int64, DType::float32, DType::float64}) {
    const std::string type(to_string(dtype));
    CAPTURE(type);
    const Masks masks{dtype, Shape{6, 4}, 9};
    const auto wanted = batches(masks, {}, {});
    for (const std::string most : {"24", "100"}) {
      CHECK(batches(masks,
                    built("augment.pack_nonzeros", R"({"fields": ["mask"], "most": )" + most + "}"),
                    built("device.unpack_nonzeros",
                          R"({"fields": ["mask"], "shape": [6, 4], "dtype": ")" + type + "\"}")) ==
            wanted);
    }
  }
}

TEST_CASE("more values than have a place are an error, and negative zeros and NaN are values") {
  const std::string eight = R"({"fields": ["mask"], "most": 3})";  // Rounded up.
  CHECK(has(refusal("augment.pack_nonzeros", eight, {DType::float32, Shape{8, 8}, 3}),
            "values are not zero, and \"most\" is 8"));
  CHECK(refusal("augment.pack_nonzeros", eight, {DType::float32, Shape{2, 4}, 3}).empty());
  Sample input;
  const auto values = input.field("mask").resize_as<float>(Shape{20});
  std::ranges::fill(values, 0.0F);
  values[3] = -0.0F;
  values[19] = std::numeric_limits<float>::quiet_NaN();
  Arena arena;
  Sample packed;
  packed.begin_from(input);
  const auto stage =
      std::dynamic_pointer_cast<SampleStage>(built("augment.pack_nonzeros", eight).stage);
  static_cast<void>(stage->infer({{"mask", DType::float32, Shape{20}}}));
  stage->process(input, packed, SampleContext({}, arena));
  std::vector<float> back(20, 1.0F);
  const auto device = make_cpu_device();
  const auto stream = device->make_stream();
  device->ops().unpack_nonzeros(
      dense_view(const_cast<std::byte*>(packed.field("mask").data()), DType::uint8, Shape{1, 64}),
      dense_view(reinterpret_cast<std::byte*>(back.data()), DType::float32, Shape{1, 20}), *stream);
  CHECK(std::memcmp(back.data(), values.data(), 80) == 0);
}

TEST_CASE("a value that does not fit is an error, and never another value") {
  const std::string mask = R"({"fields": ["mask"]})";
  const std::string narrow = R"({"fields": ["mask"], "dtype": "uint8"})";
  CHECK(has(refusal("augment.pack_bits", mask, {DType::float32, Shape{8, 8}, 3}),
            "the value 2 is neither 0 nor 1"));
  CHECK(has(refusal("augment.narrow", narrow, {DType::int64, Shape{32, 32}, 257}),
            "the value 256 is none of uint8"));
  CHECK(refusal("augment.narrow", narrow, {DType::int64, Shape{32, 32}, 256}).empty());
  Sample input;
  const auto stage = std::dynamic_pointer_cast<SampleStage>(built("augment.narrow", narrow).stage);
  for (const float value : {0.5F, -1.0F, std::numeric_limits<float>::quiet_NaN(), 1e30F,
                            -std::numeric_limits<float>::infinity()}) {
    CAPTURE(value);
    input.field("mask").resize_as<float>(Shape{3})[1] = value;
    CHECK_THROWS_AS(
        [&] {
          Arena arena;
          Sample out;
          out.begin_from(input);
          stage->process(input, out, SampleContext({}, arena));
        }(),
        Error);
  }
}

TEST_CASE("shapes and types that cannot be packed are refused before anything runs") {
  const std::string mask = R"({"fields": ["mask"]})";
  CHECK(has(refusal("augment.pack_bits", mask, {DType::uint8, Shape{3, 3}, 2}),
            "a multiple of 8 values"));
  CHECK(has(refusal("augment.narrow", R"({"fields": ["mask"], "dtype": "int32"})",
                    {DType::float32, Shape{3, 3}, 2}),
            "is not narrower"));
  const auto unpacked = [](const std::string& shape) {
    return error_of([&] {
      const auto stage =
          built("device.unpack_bits", R"({"fields": ["mask"], "shape": )" + shape + "}");
      static_cast<void>(std::dynamic_pointer_cast<DeviceStage>(stage.stage)
                            ->infer(BatchSpec{{"mask", DType::uint8, Shape{4, 2}}}));
    });
  };
  CHECK(unpacked("[4, 4]").empty());
  CHECK(has(unpacked("[4, 5]"), "an eighth of the values of [4, 5]"));
  CHECK(has(unpacked("[4, 0.5]"), "shape"));
  CHECK(has(unpacked("[1000000000, 1000000000, 1000000000]"), "too many values"));
}
