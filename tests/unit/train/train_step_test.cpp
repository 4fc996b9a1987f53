#include "cachebisect/train/train_step.hpp"

#include <string>
#include <vector>

#include "support/errors.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

class ExpectingStep final : public TrainStep {
 public:
  explicit ExpectingStep(std::vector<ExpectedField> fields) : fields_(std::move(fields)) {}
  [[nodiscard]] std::string name() const override { return "net"; }
  [[nodiscard]] std::vector<ExpectedField> expects() const override { return fields_; }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override {}

 private:
  std::vector<ExpectedField> fields_;
};

const ExpectedField kImage{.name = "image",
                           .dtypes = {DType::float32},
                           .layout = "NCHW",
                           .channels = 3,
                           .height = 32,
                           .width = 32};

std::string refusal(const ExpectedField& expected, const BatchSpec& given) {
  return test::usage_error([&] { check_expectations(ExpectingStep({expected}), given); });
}

std::string refused_image(DType dtype, const Shape& shape) {
  return refusal(kImage, {{"image", dtype, shape}});
}

/// Times of steps 0..count-1 on an emulated device, in ms.
std::vector<double> step_times(const EmulateSpec& emulate, std::uint64_t seed,
                               std::uint64_t count) {
  const auto device = make_emulated_device({});
  const auto stream = device->make_stream();
  const auto event = device->make_event();
  const auto step = make_emulated_step(emulate, seed);
  std::vector<double> times;
  device->record(*event, *stream);
  // Long work first, so that submission never catches up with the timeline.
  device->enqueue_work(*stream, 1000.0);
  device->record(*event, *stream);
  double before = device->completion_seconds(*event);
  for (std::uint64_t i = 0; i < count; ++i) {
    step->step({}, {stream.get(), device.get(), i});
    device->record(*event, *stream);
    times.push_back((device->completion_seconds(*event) - before) * 1e3);
    before = device->completion_seconds(*event);
  }
  return times;
}

}  // namespace

TEST_CASE("batches that fit are accepted") {
  CHECK(refused_image(DType::float32, {128, 3, 32, 32}) == "");
  CHECK(refused_image(DType::float32, {128, 3, kDynamic, kDynamic}) == "");
  CHECK(refusal({.name = "label"}, {{"label", DType::int32, Shape{8, 2}}}) == "");
  check_expectations(*make_callback_step([](const DeviceBatch&) {}), {});
}

TEST_CASE("errors name the field, both sides and the stage to add") {
  CHECK(refused_image(DType::uint8, {128, 3, 32, 32}) ==
        "field 'image': the training step 'net' needs float32, the chain gives uint8 [128, 3, 32, "
        "32]; add augment.to_float before collate, or device.to_float after the copy");
  CHECK(refused_image(DType::bfloat16, {128, 3, 32, 32}) ==
        "field 'image': the training step 'net' needs float32, the chain gives bfloat16 [128, 3, "
        "32, 32]; add augment.cast before collate, or device.cast after the copy, with \"dtype\": "
        "\"float32\"");
  CHECK(refused_image(DType::float32, {128, 32, 32, 3}) ==
        "field 'image': the training step 'net' needs NCHW [N, 3, 32, 32], the chain gives float32 "
        "[128, 32, 32, 3]; set \"layout\": \"NCHW\" in collate.stack");
  CHECK(refused_image(DType::float32, {128, 3, 28, 32}) ==
        "field 'image': the training step 'net' needs NCHW [N, 3, 32, 32], the chain gives float32 "
        "[128, 3, 28, 32]; add augment.resize or augment.center_crop with \"height\": 32, "
        "\"width\": 32");
  CHECK(refused_image(DType::float32, {128, 1, 32, 32}) ==
        "field 'image': the training step 'net' needs NCHW [N, 3, 32, 32], the chain gives float32 "
        "[128, 1, 32, 32]; read or decode images of 3 channels");
  CHECK(refused_image(DType::float32, {128, 3072}) ==
        "field 'image': the training step 'net' needs NCHW [N, 3, 32, 32], the chain gives float32 "
        "[128, 3072]; add the decode stage that makes an image of these bytes");
  CHECK(refusal(kImage, {{"img", DType::float32, Shape{1}}}) ==
        "field 'image': the training step 'net' needs it, the chain gives 'img'; use read and "
        "decode stages that make it");
  CHECK(refusal({.name = "label", .dtypes = {DType::int64}, .layout = "N"},
                {{"label", DType::int32, Shape{128}}}) ==
        "field 'label': the training step 'net' needs int64, the chain gives int32 [128]; use a "
        "source or stage that outputs it as int64");
  CHECK(refusal({.name = "label", .dtypes = {DType::int64}, .layout = "N"},
                {{"label", DType::int64, Shape{128, 10}}}) ==
        "field 'label': the training step 'net' needs N [N], the chain gives int64 [128, 10]; "
        "remove the stage that makes it one_hot");
}

TEST_CASE("emulated steps take their time, with jitter, on the device's timeline") {
  for (const double ms : step_times({.step_ms = 7}, 1, 5)) CHECK(ms == doctest::Approx(7));

  const EmulateSpec jittered{.step_ms = 10, .jitter = {.kind = Jitter::Kind::lognormal, .cv = 0.2}};
  const auto times = step_times(jittered, 1, 96);
  for (std::size_t first = 0; first <= 32; first += 16) {
    double sum = 0;
    for (std::size_t i = first; i < first + 64; ++i) sum += times[i];
    CHECK(sum / 64 == doctest::Approx(10).epsilon(1e-6));
  }
  CHECK(times[0] != doctest::Approx(times[1]).epsilon(1e-3));
  CHECK(step_times(jittered, 1, 3)[2] == doctest::Approx(times[2]).epsilon(1e-6));
  int equal = 0;
  const auto other = step_times(jittered, 2, 64);
  for (std::size_t i = 0; i < 64; ++i) equal += other[i] == doctest::Approx(times[i]).epsilon(1e-6);
  CHECK(equal < 64);
}

TEST_CASE("the launches of an emulated step share its time") {
  for (const double ms : step_times({.step_ms = 7, .launches = 35}, 1, 5)) {
    CHECK(ms == doctest::Approx(7));
  }
  CHECK_THROWS_AS((void)make_emulated_step({.launches = 0}, 1), Error);
}

TEST_CASE("a callback step passes the batch on, and invalid arguments are refused") {
  std::int64_t seen = 0;
  const auto step = make_callback_step([&seen](const DeviceBatch& batch) { seen = batch.size; });
  DeviceBatch batch;
  batch.size = 5;
  step->step(batch, {});
  CHECK(seen == 5);
  const auto with_context =
      make_callback_step([&seen](const DeviceBatch& b, const StepContext& context) {
        seen = b.size + static_cast<std::int64_t>(context.index);
      });
  with_context->step(batch, {nullptr, nullptr, 7});
  CHECK(seen == 12);
  CHECK_FALSE(step->snapshot());
  CHECK_FALSE(step->loss().has_value());
  CHECK_THROWS_AS((void)make_callback_step(std::function<void(const DeviceBatch&)>()), Error);
  CHECK_THROWS_AS(
      (void)make_callback_step(std::function<void(const DeviceBatch&, const StepContext&)>()),
      Error);
  CHECK_THROWS_AS((void)make_emulated_step({.step_ms = -1}, 1), Error);
}

TEST_CASE("a step runs on the cpu alone unless it names other devices") {
  const DeviceInfo cpu{.kind = DeviceKind::cpu, .name = "CPU"};
  const DeviceInfo gpu{.kind = DeviceKind::cuda, .ordinal = 1, .name = "NVIDIA H200"};
  const DeviceInfo emulated{.kind = DeviceKind::emulated, .name = "emulated"};
  const auto refused = [](const TrainStep& step, const DeviceInfo& device) {
    return test::usage_error([&] { check_device(step, device); });
  };
  const ExpectingStep step({});
  CHECK(refused(step, cpu).empty());
  CHECK(refused(step, gpu) ==
        "training step 'net' runs on cpu, and the device is cuda:1 (NVIDIA H200); use --device "
        "cpu, or if the step can run on cuda, name it in devices() of the step or in "
        "make_callback_step()");
  CHECK_FALSE(refused(step, emulated).empty());
  const auto both =
      make_callback_step([](const DeviceBatch&) {}, {DeviceKind::cpu, DeviceKind::cuda});
  CHECK(refused(*both, cpu).empty());
  CHECK(refused(*both, gpu).empty());
  CHECK(refused(*make_emulated_step({}, 1), emulated).empty());
  CHECK_FALSE(refused(*make_emulated_step({}, 1), cpu).empty());
}
