// A chain with random stages of every kind, small enough to run hundreds of times.
#pragma once

#include <cstring>
#include <memory>

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::test {

/// Cuts a random window of `size` x `size` and mirrors it at random; writes any strides.
class RandomWindow final : public SampleStage {
 public:
  explicit RandomWindow(std::int64_t size) : size_(size) {}
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override {
    SampleSpec output = input;
    output[0].shape[0] = size_;
    output[0].shape[1] = size_;
    return output;
  }
  void process(const Sample& input, Sample& out, const SampleContext& context) const override {
    RandomStream random = context.random();
    const ConstTensorView from = input.field("image").view();
    const Shape shape{size_, size_, from.shape[2]};
    const auto bound = [&](std::size_t axis) {
      return static_cast<std::uint64_t>(from.shape[axis] - size_ + 1);
    };
    const auto top = static_cast<std::int64_t>(random.below(bound(0)));
    const auto left = static_cast<std::int64_t>(random.below(bound(1)));
    const auto element = static_cast<std::int64_t>(size_of(from.dtype));
    const bool mirror = random.below(2) == 1;
    const TensorView to = out.field("image").resize_strided(from.dtype, shape);
    for (std::int64_t y = 0; y < size_; ++y) {
      for (std::int64_t x = 0; x < size_; ++x) {
        const std::int64_t source = left + (mirror ? size_ - 1 - x : x);
        for (std::int64_t c = 0; c < shape[2]; ++c) {
          const std::int64_t target = y * to.strides[0] + x * to.strides[1] + c * to.strides[2];
          const std::int64_t at =
              (top + y) * from.strides[0] + source * from.strides[1] + c * from.strides[2];
          std::memcpy(to.data + target * element, from.data + at * element,
                      static_cast<std::size_t>(element));
        }
      }
    }
  }

 private:
  std::int64_t size_;
};

/// uint8 to float32 with random noise; dense output only.
class NoisyFloat final : public SampleStage {
 public:
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override {
    SampleSpec output = input;
    output[0].dtype = DType::float32;
    return output;
  }
  void process(const Sample& input, Sample& out, const SampleContext& context) const override {
    RandomStream random = context.random();
    const auto from = input.field("image").as<std::uint8_t>();
    const auto to = out.field("image").resize_as<float>(input.field("image").shape());
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<float>(from[i]) / 255.0F + static_cast<float>(random.uniform());
    }
  }
};

/// Doubles every element of a host batch.
class DoubleBatch final : public BatchStage {
 public:
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const HostBatch& input, OwnedHostBatch& out,
               const SampleContext& /*context*/) const override {
    const TensorView& from = input.fields[0].tensor;
    const TensorView to = out.resize_field(0, input.fields[0].name, from.dtype, from.shape);
    const auto* source = reinterpret_cast<const float*>(from.data);
    auto* target = reinterpret_cast<float*>(to.data);
    for (std::int64_t i = 0; i < from.shape.elements(); ++i) target[i] = 2 * source[i];
  }
};

/// 2 x - 1 on the device.
class ShiftOnDevice final : public DeviceStage {
 public:
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const DeviceBatch& input, OwnedDeviceBatch& out,
               const DeviceContext& context) const override {
    const TensorView from = input.fields[0].tensor;
    const TensorView to = out.resize_field(0, input.fields[0].name, DType::float32, from.shape);
    const float scale = 2;
    const float bias = -1;
    context.ops().affine(from, to, {&scale, 1}, {&bias, 1}, 1, context.stream());
  }
};

struct ChainOptions {
  std::uint64_t samples = 96;
  std::int64_t batch_size = 8;
  int workers = 2;
  std::uint64_t seed = 1;
  bool device_stage = true;
  bool batch_stage = false;
  LoaderKind loader = LoaderKind::sample;
  CopyOptions copy{true, true, 2};
};

inline void read_image(SampleIndex index, Sample& out) {
  const auto pixels = out.field("image").resize_as<std::uint8_t>(Shape{9, 9, 3});
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(index.value * 37 + i * 11 + i / 27);
  }
  out.field("label").set<std::int64_t>(static_cast<std::int64_t>(index.value % 10));
}

/// read, window (random, strided), noise (random, dense), collate to NCHW, copy, device stage.
inline Pipeline random_chain(const ChainOptions& options) {
  PipelineBuilder builder;
  builder.source("read", options.samples, read_image)
      .stage("window", {"custom.window",
                        {.random = true, .strided_output = true},
                        std::make_shared<RandomWindow>(6)})
      .stage("noise", {"custom.noise", {.random = true}, std::make_shared<NoisyFloat>()})
      .stage("crop", {"custom.crop",
                      {.random = true, .strided_output = true},
                      std::make_shared<RandomWindow>(5)});
  builder.collate("NCHW");
  if (options.batch_stage) {
    builder.stage("double", {"custom.double", {}, std::make_shared<DoubleBatch>()});
    builder.stage("again", {"custom.double", {}, std::make_shared<DoubleBatch>()});
  }
  builder.copy(options.copy);
  if (options.device_stage) {
    builder.stage("shift", {"custom.shift", {}, std::make_shared<ShiftOnDevice>()});
  }
  return builder.batch_size(options.batch_size)
      .workers(options.workers)
      .loader(options.loader)
      .seed(options.seed)
      .device("cpu")
      .build();
}

}  // namespace cachebisect::test
