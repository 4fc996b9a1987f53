// Small stages with known output.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::test {

struct ToySourceOptions {
  std::uint64_t samples = 100;
  Shape shape{4, 6, 3};
  bool vary = false;  ///< the height depends on the index and is declared dynamic
  std::function<void(std::uint64_t)> on_read;
};

/// image: bytes computed from the index; label: the index; origin "toy/file".
class ToySource final : public SourceStage {
 public:
  explicit ToySource(ToySourceOptions options) : options_(std::move(options)) {}
  [[nodiscard]] std::uint64_t size() const override { return options_.samples; }
  [[nodiscard]] SampleSpec infer() override {
    Shape shape = options_.shape;
    if (options_.vary) shape[0] = kDynamic;
    return {{"image", DType::uint8, shape}, {"label", DType::int64, {}}};
  }
  void read(Sample& out, const SampleContext& context) const override {
    if (options_.on_read) options_.on_read(context.index());
    out.set_origin("toy/file");
    Shape shape = options_.shape;
    if (options_.vary) shape[0] += static_cast<std::int64_t>(context.index() % 3);
    auto pixels = out.field("image").resize_as<std::uint8_t>(shape);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      pixels[i] = static_cast<std::uint8_t>(context.index() * 131 + i * 7);
    }
    out.field("label").set(static_cast<std::int64_t>(context.index().value));
  }

 private:
  ToySourceOptions options_;
};

/// Adds a random byte to the image. Strided: writes rows of any layout itself.
class ToyNoise final : public SampleStage {
 public:
  explicit ToyNoise(bool strided) : strided_(strided) {}
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override { return input; }
  void process(const Sample& input, Sample& out, const SampleContext& context) const override {
    const Field& image = input.field("image");
    const auto from = image.as<std::uint8_t>();
    auto scratch = context.arena().take_array<std::uint8_t>(from.size());
    RandomStream random = context.random();
    for (std::size_t i = 0; i < from.size(); ++i) {
      scratch[i] = static_cast<std::uint8_t>(from[i] + random.next_u32());
    }
    const Shape shape = image.shape();
    Field& to = out.field("image");
    const TensorView view =
        strided_ ? to.resize_strided(DType::uint8, shape) : to.resize(DType::uint8, shape);
    copy_tensor(dense_view(bytes(scratch.data()), DType::uint8, shape), view);
  }

 private:
  [[nodiscard]] static const std::byte* bytes(const std::uint8_t* data) {
    return reinterpret_cast<const std::byte*>(data);
  }
  bool strided_;
};

/// Calls a function and passes the sample on.
class ToyHook final : public SampleStage {
 public:
  explicit ToyHook(std::function<void(const Sample&)> call) : call_(std::move(call)) {}
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override { return input; }
  void process(const Sample& input, Sample& /*out*/,
               const SampleContext& /*context*/) const override {
    call_(input);
  }

 private:
  std::function<void(const Sample&)> call_;
};

/// Adds one to every label of a batch.
class ToyCountUp final : public BatchStage {
 public:
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const HostBatch& input, OwnedHostBatch& out,
               const SampleContext& /*context*/) const override {
    const TensorView& from = input.tensor("label");
    const TensorView& to = out.resize_field(1, "label", from.dtype, from.shape);
    for (std::int64_t i = 0; i < input.size; ++i) {
      reinterpret_cast<std::int64_t*>(to.data)[i] =
          reinterpret_cast<const std::int64_t*>(from.data)[i] + 1;
    }
  }
};

inline BuiltStage toy_source(ToySourceOptions options) {
  return {"read.toy", {}, std::make_shared<ToySource>(std::move(options))};
}
inline BuiltStage toy_noise(bool strided) {
  return {"augment.noise",
          {.random = true, .strided_output = strided},
          std::make_shared<ToyNoise>(strided)};
}
inline BuiltStage toy_hook(std::function<void(const Sample&)> call) {
  return {"augment.hook", {}, std::make_shared<ToyHook>(std::move(call))};
}
inline BuiltStage toy_count_up() { return {"batch.count_up", {}, std::make_shared<ToyCountUp>()}; }

}  // namespace cachebisect::test
