// Collate, copy and device stages: declared shapes, padding, and the same results as on the host.
#include <cmath>

#include "stages/conformance.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/data/half.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/stages.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::vector<Sample> sized_samples(const std::vector<Shape>& shapes) {
  std::vector<Sample> samples(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    samples[i].set_index({i});
    fill(samples[i].field("image"), DType::uint8, shapes[i], i + 1);
    samples[i].field("label").set(static_cast<std::int64_t>(i));
  }
  return samples;
}

SampleSpec image_and_label(const Shape& image) {
  return {{"image", DType::uint8, image}, {"label", DType::int64, Shape{}}};
}

std::shared_ptr<CollateStage> collate(const std::string& type, const std::string& layout) {
  return std::dynamic_pointer_cast<CollateStage>(
      stages::make(type, R"({"layout": ")" + layout + "\"}").stage);
}

// Element [n, y, x, c] of a uint8 batch of either layout.
std::uint8_t pixel(const TensorView& batch, bool planar, std::int64_t n, std::int64_t y,
                   std::int64_t x, std::int64_t c) {
  const auto& s = batch.strides;
  const std::int64_t at = planar ? n * s[0] + c * s[1] + y * s[2] + x * s[3]
                                 : n * s[0] + y * s[1] + x * s[2] + c * s[3];
  return static_cast<std::uint8_t>(batch.data[at]);
}

std::uint8_t pixel(const Sample& sample, std::int64_t y, std::int64_t x, std::int64_t c) {
  const ConstTensorView view = sample.field("image").view();
  if (y >= view.shape[0] || x >= view.shape[1]) return 0;
  return static_cast<std::uint8_t>(view.data[(y * view.shape[1] + x) * view.shape[2] + c]);
}

// Runs one batch through a device stage on the cpu device.
struct DeviceRun {
  explicit DeviceRun(const BuiltStage& built)
      : stage(std::dynamic_pointer_cast<DeviceStage>(built.stage)) {}

  const TensorView& operator()(const std::string& name, Field& field) {
    DeviceBatch input;
    input.size = field.shape()[0];
    const ConstTensorView view = field.view();
    input.fields.push_back(
        {name, dense_view(const_cast<std::byte*>(view.data), view.dtype, view.shape)});
    declared = stage->infer({{name, view.dtype, view.shape}});
    process(input);
    return out.batch.tensor(name);
  }
  /// The first field; infer() has been called.
  const TensorView& operator()(const HostBatch& batch) {
    DeviceBatch input;
    static_cast<Batch&>(input) = batch;
    process(input);
    return out.batch.fields.front().tensor;
  }

  void process(const DeviceBatch& input) {
    out.begin_from(input);
    stage->process(input, out, {device->ops(), *stream, out.scratch(), 1, hash_name("stage")});
    const auto done = device->make_event();
    device->record(*done, *stream);
    device->synchronize(*done);
  }

  std::shared_ptr<DeviceStage> stage;
  std::unique_ptr<Device> device = make_cpu_device();
  std::unique_ptr<Stream> stream = device->make_stream();
  OwnedDeviceBatch out{device->device_memory()};
  BatchSpec declared;
};

float float_at(const TensorView& view, std::size_t i) {
  return reinterpret_cast<const float*>(view.data)[i];
}

}  // namespace

TEST_CASE("collate stages declare and make batches in both layouts") {
  const Shape shape{4, 6, 3};
  for (const std::string type : {"collate.stack", "collate.pad", "collate.ragged"}) {
    for (const std::string layout : {"NHWC", "NCHW"}) {
      CAPTURE(type);
      CAPTURE(layout);
      const bool planar = layout == "NCHW";
      const auto stage = collate(type, layout);
      const BatchSpec spec = stage->infer(image_and_label(shape), 3);
      CHECK(spec[0].shape == (planar ? Shape{3, 3, 4, 6} : Shape{3, 4, 6, 3}));
      CHECK(spec[1].shape == Shape{3});
      const std::vector<Sample> samples = sized_samples({shape, shape, shape});
      OwnedHostBatch gathered(host_memory());
      stage->gather(samples, gathered);
      CHECK(gathered.batch.padding_share == 0);
      std::vector<std::byte> rows(gathered.batch.tensor("image").byte_size());
      for (std::size_t n = 0; n < 3; ++n)
        copy_tensor(samples[n].field("image").view(),
                    stage->row(spec[0], rows.data(), static_cast<std::int64_t>(n)));
      CHECK(rows == bytes_of(gathered.batch.tensor("image")));
      for (std::int64_t n = 0; n < 3; ++n) {
        for (std::int64_t y = 0; y < 4; ++y)
          REQUIRE(pixel(gathered.batch.tensor("image"), planar, n, y, 5, 2) ==
                  pixel(samples[static_cast<std::size_t>(n)], y, 5, 2));
      }
    }
  }
}

TEST_CASE("collate.pad pads with zeros to the largest sample and reports the share of padding") {
  const std::vector<Sample> samples = sized_samples({{4, 6, 3}, {5, 2, 3}, {1, 1, 3}});
  for (const std::string layout : {"NHWC", "NCHW"}) {
    const bool planar = layout == "NCHW";
    const auto stage = collate("collate.pad", layout);
    const BatchSpec spec = stage->infer(image_and_label({kDynamic, kDynamic, 3}), 3);
    CHECK(spec[0].shape ==
          (planar ? Shape{3, 3, kDynamic, kDynamic} : Shape{3, kDynamic, kDynamic, 3}));
    OwnedHostBatch batch(host_memory());
    // The bytes of an earlier, larger batch must not show.
    const TensorView& old = batch.resize_field(0, "image", DType::uint8, Shape{4096});
    std::memset(old.data, 77, old.byte_size());
    stage->gather(samples, batch);
    const TensorView& image = batch.batch.tensor("image");
    CHECK(image.shape == (planar ? Shape{3, 3, 5, 6} : Shape{3, 5, 6, 3}));
    for (std::int64_t n = 0; n < 3; ++n) {
      for (std::int64_t y = 0; y < 5; ++y) {
        for (std::int64_t x = 0; x < 6; ++x) {
          for (std::int64_t c = 0; c < 3; ++c)
            REQUIRE(pixel(image, planar, n, y, x, c) ==
                    pixel(samples[static_cast<std::size_t>(n)], y, x, c));
        }
      }
    }
    const double used = 3 * (4 * 6 + 5 * 2 + 1) + 3 * 8;
    const double total = 3 * 3 * 5 * 6 + 3 * 8;
    CHECK(batch.batch.padding_share == doctest::Approx(1 - used / total));
    const std::size_t capacity = batch.capacity();
    stage->gather(samples, batch);
    CHECK(batch.capacity() == capacity);
  }
}

TEST_CASE("collate.ragged puts samples end to end, and device.pad gives what collate.pad does") {
  const std::vector<Sample> samples = sized_samples({{4, 6, 3}, {5, 2, 3}, {1, 1, 3}});
  const SampleSpec spec = image_and_label({kDynamic, kDynamic, 3});
  for (const std::string layout : {"NHWC", "NCHW"}) {
    CAPTURE(layout);
    const auto pads = collate("collate.pad", layout);
    const BatchSpec padded_spec = pads->infer(spec, 3);
    OwnedHostBatch padded(host_memory());
    pads->gather(samples, padded);

    const auto stage = collate("collate.ragged", layout);
    const BatchSpec ragged_spec = stage->infer(spec, 3);
    CHECK(ragged_spec[0].shape == Shape{3, kDynamic});
    CHECK(ragged_spec[1].shape == Shape{3});
    OwnedHostBatch batch(host_memory());
    // The bytes of an earlier, larger batch must not show.
    const TensorView& old = batch.resize_field(0, "image", DType::uint8, Shape{4096});
    std::memset(old.data, 77, old.byte_size());
    stage->gather(samples, batch);
    CHECK(batch.batch.tensor("image").shape == Shape{3, 35});  // 72 + 30 + 3 values.
    CHECK(batch.batch.fields[0].sample_shapes.size() == 3);
    CHECK(batch.batch.fields[1].sample_shapes.empty());
    CHECK(bytes_of(batch.batch.tensor("label")) == bytes_of(padded.batch.tensor("label")));
    const std::size_t capacity = batch.capacity();
    stage->gather(samples, batch);
    CHECK(batch.capacity() == capacity);

    DeviceRun run(stages::make("device.pad", layout == "NCHW" ? R"({"shape": [3, -1, -1]})"
                                                              : R"({"shape": [-1, -1, 3]})"));
    const BatchSpec declared = run.stage->infer(ragged_spec);
    CHECK(declared == padded_spec);
    batch.batch.size = 3;
    const TensorView& image = run(batch.batch);
    CHECK(image.shape == padded.batch.tensor("image").shape);
    CHECK(bytes_of(image) == bytes_of(padded.batch.tensor("image")));
    CHECK(run.out.batch.fields[0].sample_shapes.empty());
  }
}

TEST_CASE("device.pad leaves samples of one shape as they are, and refuses other shapes") {
  const auto stage = std::dynamic_pointer_cast<DeviceStage>(
      stages::make("device.pad", R"({"shape": [3, -1, -1]})").stage);
  const BatchSpec images{{"image", DType::uint8, Shape{2, 3, 4, 5}}};
  CHECK(stage->infer(images) == images);
  const std::string message = error_message(
      [&] {
        static_cast<void>(stage->infer({{"image", DType::uint8, Shape{2, 1, 4, 5}}}));
      },
      ErrorKind::usage);
  CHECK(has(message, "must be one of collate.ragged, or of samples of [3, ?, ?]"));
  CHECK_THROWS_AS(stages::make("device.pad", R"({"shape": [3, 0, -1]})"), Error);
  CHECK_THROWS_AS(stages::make("device.pad", R"({"shape": [3, 1.5, -1]})"), Error);
  DeviceRun run(stages::make("device.pad", R"({"shape": [3, -1]})"));
  Field flat;
  fill(flat, DType::uint8, Shape{2, 8}, 1);
  HostBatch batch;
  batch.size = 2;
  batch.fields.push_back(
      {"image",
       dense_view(const_cast<std::byte*>(flat.view().data), DType::uint8, Shape{2, 8}),
       {Shape{3, 2}, Shape{2, 4}}});
  static_cast<void>(run.stage->infer({{"image", DType::uint8, Shape{2, kDynamic}}}));
  CHECK(has(error_message([&] { run(batch); }, ErrorKind::data),
            "samples of field \"image\" are [2, 4], must be [3, ?]"));
}

TEST_CASE("collate stages name both samples of a mismatch") {
  std::vector<Sample> samples = sized_samples({{4, 6, 3}, {4, 6, 3}});
  fill(samples[1].field("image"), DType::float32, Shape{4, 6, 3}, 1);
  for (const std::string type : {"collate.stack", "collate.pad", "collate.ragged"}) {
    const auto stage = collate(type, "NHWC");
    static_cast<void>(stage->infer(image_and_label({kDynamic, kDynamic, 3}), 2));
    OwnedHostBatch batch(host_memory());
    const std::string message =
        error_message([&] { stage->gather(samples, batch); }, ErrorKind::data);
    CHECK(has(message, "sample 0"));
    CHECK(has(message, "sample 1"));
  }
}

TEST_CASE("copy.device holds its options") {
  const auto copy = std::dynamic_pointer_cast<CopyStage>(
      stages::make("copy.device", R"({"pinned": false, "non_blocking": false, "prefetch": 0})")
          .stage);
  CHECK(!copy->options().pinned);
  CHECK(!copy->options().non_blocking);
  CHECK(copy->options().prefetch == 0);
}

TEST_CASE("device.to_float and device.normalize agree with the host stages") {
  for (const bool planar : {false, true}) {
    Field batch;
    const Shape shape = planar ? Shape{2, 3, 4, 5} : Shape{2, 4, 5, 3};
    fill(batch, DType::uint8, shape, 1);
    const auto bytes = batch.as<std::uint8_t>();
    DeviceRun unit(stages::make("device.to_float"));
    const TensorView& floats = unit("image", batch);
    CHECK(unit.declared == BatchSpec{{"image", DType::float32, shape}});
    for (std::size_t i = 0; i < bytes.size(); ++i)
      REQUIRE(std::abs(float_at(floats, i) - static_cast<float>(bytes[i]) / 255.0F) < 1e-6F);
    DeviceRun normal(stages::make(
        "device.normalize",
        std::string(R"({"mean": [0.1, 0.2, 0.3], "std": [0.5, 0.25, 2], "layout": ")") +
            (planar ? "NCHW" : "NHWC") + "\"}"));
    const TensorView& normalized = normal("image", batch);
    const float mean[] = {0.1F, 0.2F, 0.3F};
    const float deviation[] = {0.5F, 0.25F, 2.0F};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t c = planar ? i / 20 % 3 : i % 3;
      REQUIRE(std::abs(float_at(normalized, i) -
                       (static_cast<float>(bytes[i]) / 255.0F - mean[c]) / deviation[c]) < 1e-5F);
    }
  }
}

TEST_CASE("device.normalize does not rescale floats") {
  Field batch;
  fill(batch, DType::float32, Shape{2, 1, 3, 3}, 1);
  const std::vector<float> values(batch.as<float>().begin(), batch.as<float>().end());
  DeviceRun run(stages::make("device.normalize", R"({"mean": [0.5], "std": [0.25]})"));
  const TensorView& got = run("image", batch);
  for (std::size_t i = 0; i < values.size(); ++i)
    REQUIRE(std::abs(float_at(got, i) - (values[i] - 0.5F) / 0.25F) < 1e-5F);
}

TEST_CASE("device.cast rounds as on the host, and device.one_hot sets one element per label") {
  Field batch;
  fill(batch, DType::float32, Shape{2, 8}, 1);
  DeviceRun cast(stages::make("device.cast", R"({"dtype": "bfloat16"})"));
  const TensorView& halves = cast("image", batch);
  CHECK(halves.dtype == DType::bfloat16);
  for (std::size_t i = 0; i < 16; ++i)
    REQUIRE(reinterpret_cast<const std::uint16_t*>(halves.data)[i] ==
            float_to_bfloat16(batch.as<float>()[i]));
  Field labels;
  const auto values = labels.resize_as<std::int64_t>(Shape{3});
  std::ranges::copy(std::vector<std::int64_t>{2, 0, 1}, values.begin());
  DeviceRun one_hot(stages::make("device.one_hot", R"({"classes": 3})"));
  const TensorView& hot = one_hot("label", labels);
  CHECK(hot.shape == Shape{3, 3});
  const std::vector<float> wanted{0, 0, 1, 1, 0, 0, 0, 1, 0};
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(float_at(hot, i) == wanted[i]);
}

TEST_CASE("device stages refuse batches that do not fit") {
  for (const StageType& type : all_stages().stages()) {
    if (type.kind != StageKind::device || type.type == "device.cast") continue;  // takes all
    if (type.type == "device.pad") continue;  // leaves what is padded as it is
    CAPTURE(type.type);
    for (const BatchSpec& spec : {BatchSpec{{"other", DType::uint8, Shape{2, 3, 4, 4}}},
                                  BatchSpec{{"image", DType::float64, Shape{2, 3, kDynamic, 4}},
                                            {"label", DType::float64, Shape{2}}}}) {
      CHECK_THROWS_AS(static_cast<void>(make_example<DeviceStage>(type)->infer(spec)), Error);
    }
  }
}
