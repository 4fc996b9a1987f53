// Device stages that do something else to each image: large batches, epochs, and what they refuse.
#include <algorithm>
#include <numeric>

#include "stages/conformance.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/device/device.hpp"
#include "cachebisect/stages.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// Batches of images on the cpu device.
struct Images {
  explicit Images(const Shape& shape) {
    fill(field, DType::uint8, shape, 3);
    batch.size = shape[0];
    batch.indices.resize(static_cast<std::size_t>(shape[0]));
    for (std::size_t i = 0; i < batch.indices.size(); ++i) batch.indices[i] = {i};
    const ConstTensorView view = field.view();
    batch.fields.push_back(
        {"image", dense_view(const_cast<std::byte*>(view.data), view.dtype, view.shape)});
  }

  std::vector<std::byte> run(const std::string& type, const std::string& params) {
    const auto stage = std::dynamic_pointer_cast<DeviceStage>(stages::make(type, params).stage);
    static_cast<void>(
        stage->infer({{"image", batch.fields[0].tensor.dtype, batch.fields[0].tensor.shape}}));
    OwnedDeviceBatch out(device->device_memory());
    out.begin_from(batch);
    stage->process(batch, out, {device->ops(), *stream, out.scratch(), 1, hash_name("stage")});
    return bytes_of(out.batch.tensor("image"));
  }

  Field field;
  DeviceBatch batch;
  std::unique_ptr<Device> device = make_cpu_device();
  std::unique_ptr<Stream> stream = device->make_stream();
};

std::string refusal(const std::string& type, const std::string& params, const FieldSpec& image) {
  return error_of([&] {
    static_cast<void>(std::dynamic_pointer_cast<DeviceStage>(stages::make(type, params).stage)
                          ->infer(BatchSpec{image}));
  });
}

}  // namespace

TEST_CASE("each image of a batch that takes several operations has its own draw") {
  constexpr std::int64_t kImages = 2 * static_cast<std::int64_t>(kMaxImagesAtOnce) + 5;
  Images many({kImages, 6, 5, 3});
  for (const auto& [type, params] :
       {std::pair{"device.random_crop", R"({"size": 4, "layout": "NHWC"})"},
        std::pair{"device.horizontal_flip", R"({"layout": "NHWC"})"},
        std::pair{"device.color_jitter", R"({"contrast": 0.9, "layout": "NHWC"})"}}) {
    CAPTURE(type);
    const std::vector<std::byte> together = many.run(type, params);
    std::vector<std::byte> alone;
    for (std::int64_t n = 0; n < kImages; ++n) {
      Images one({1, 6, 5, 3});
      one.batch.indices[0] = {static_cast<std::uint64_t>(n)};
      const std::size_t bytes = 6 * 5 * 3;
      one.batch.fields[0].tensor.data =
          many.batch.fields[0].tensor.data + static_cast<std::size_t>(n) * bytes;
      const std::vector<std::byte> image = one.run(type, params);
      alone.insert(alone.end(), image.begin(), image.end());
    }
    CHECK(together == alone);
  }
}

TEST_CASE("random device stages draw anew in each epoch") {
  Images images({40, 3, 8, 8});
  for (const auto& [type, params] :
       {std::pair{"device.random_crop", R"({"size": 4})"}, std::pair{"device.vertical_flip", "{}"},
        std::pair{"device.color_jitter", R"({"brightness": 0.9})"}}) {
    CAPTURE(type);
    const auto of_epoch = [&, type = type, params = params](std::uint64_t epoch) {
      images.batch.epoch = epoch;
      return images.run(type, params);
    };
    CHECK(of_epoch(0) == of_epoch(0));
    CHECK(of_epoch(0) != of_epoch(1));
  }
}

TEST_CASE("device stages of images say what does not fit") {
  const FieldSpec images{"image", DType::uint8, Shape{8, 3, 32, 32}};
  CHECK(has(refusal("device.random_crop", R"({"size": 40})", images), "an image of 32 x 32"));
  CHECK(has(refusal("device.random_crop", R"({"size": 4})", {"image", DType::uint8, Shape{8, 32}}),
            "must be a batch of images"));
  CHECK(has(refusal("device.center_crop", R"({"size": 4})",
                    {"image", DType::uint8, Shape{8, 3, kDynamic, 32}}),
            "resize or crop them before collate"));
  CHECK(has(refusal("device.color_jitter", "{}", {"image", DType::float32, Shape{8, 3, 32, 32}}),
            "before device.to_float"));
  CHECK(has(refusal("device.color_jitter", "{}", {"image", DType::uint8, Shape{8, 32, 32, 3}}),
            "has 32 channels"));
}
