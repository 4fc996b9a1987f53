// The kernels of the hot stages on one core: microseconds per sample.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/kernels/resize.hpp"
#include <benchmark/benchmark.h>

#include "cachebisect/stages.hpp"

namespace {

using namespace cachebisect;

void fill(Field& field, const Shape& shape) {
  const TensorView view = field.resize(DType::uint8, shape);
  RandomStream random({.seed = 1});
  for (std::size_t i = 0; i < view.byte_size(); ++i)
    view.data[i] = static_cast<std::byte>(random.next_u32() & 0xFFU);
}

// One stage, as a worker runs it. `planar`: writes into a slot of an NCHW batch.
void run_stage(benchmark::State& state, const char* type, const char* params, const Shape& shape,
               bool planar) {
  const BuiltStage built = stages::make(type, params);
  const auto stage = std::dynamic_pointer_cast<SampleStage>(built.stage);
  const FieldSpec output = stage->infer({{"image", DType::uint8, shape}}).front();
  Sample input;
  Sample out;
  fill(input.field("image"), shape);
  std::vector<std::byte> slot(static_cast<std::size_t>(output.shape.elements()) *
                              size_of(output.dtype));
  TensorView row = dense_view(slot.data(), output.dtype, output.shape);
  if (planar) row.strides = {output.shape[1], 1, output.shape[0] * output.shape[1]};
  Arena arena;
  std::uint64_t index = 0;
  for (auto _ : state) {
    out.begin_from(input);
    out.field("image").attach(row);
    stage->process(input, out, SampleContext({.index = index++}, arena));
    arena.reset();
    benchmark::DoNotOptimize(slot.data());
  }
  state.SetItemsProcessed(state.iterations());
}

constexpr const char* kImageNet =
    R"({"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]})";

BENCHMARK_CAPTURE(run_stage, resize_224_from_500x375, "augment.resize", R"({"size": 224})",
                  Shape{375, 500, 3}, false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, resize_224_from_500x375_planar, "augment.resize", R"({"size": 224})",
                  Shape{375, 500, 3}, true)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, resize_224_from_32x32, "augment.resize", R"({"size": 224})",
                  Shape{32, 32, 3}, false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, random_resized_crop_224, "augment.random_resized_crop",
                  R"({"size": 224})", Shape{375, 500, 3}, false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, normalize_224, "augment.normalize", kImageNet, Shape{224, 224, 3},
                  false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, normalize_224_planar, "augment.normalize", kImageNet,
                  Shape{224, 224, 3}, true)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, horizontal_flip_224, "augment.horizontal_flip", R"({"p": 1})",
                  Shape{224, 224, 3}, false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, random_crop_cifar_planar, "augment.random_crop",
                  R"({"size": 32, "padding": 4})", Shape{32, 32, 3}, true)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, color_jitter_cifar, "augment.color_jitter",
                  R"({"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1})",
                  Shape{32, 32, 3}, false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, color_jitter_224, "augment.color_jitter",
                  R"({"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1})",
                  Shape{224, 224, 3}, false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, gaussian_blur_5_224, "augment.gaussian_blur", R"({"kernel_size": 5})",
                  Shape{224, 224, 3}, false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_stage, rotate_bilinear_224, "augment.rotate",
                  R"({"degrees": [-15, 15], "interpolation": "bilinear"})", Shape{224, 224, 3},
                  false)
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
