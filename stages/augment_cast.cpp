// augment.cast: conversion to a floating-point type, without scaling.
#include <algorithm>
#include <cstring>

#include "stages/support/cast_spec.hpp"
#include "stages/support/field_stage.hpp"

#include "cachebisect/data/half.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

template <class T>
void widen(const std::byte* from, std::span<float> to) {
  const auto* values = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(values[i]);
}

void to_floats(const ConstTensorView& from, std::span<float> to) {
  const auto* bits = reinterpret_cast<const std::uint16_t*>(from.data);
  switch (from.dtype) {
    case DType::uint8:
      return widen<std::uint8_t>(from.data, to);
    case DType::int32:
      return widen<std::int32_t>(from.data, to);
    case DType::int64:
      return widen<std::int64_t>(from.data, to);
    case DType::float16:
      return halfs_to_float({bits, to.size()}, to);
    case DType::bfloat16:
      return bfloat16s_to_float({bits, to.size()}, to);
    default:
      std::memcpy(to.data(), from.data, to.size_bytes());
  }
}

void from_floats(std::span<const float> from, DType dtype, std::byte* to) {
  auto* bits = reinterpret_cast<std::uint16_t*>(to);
  if (dtype == DType::float16) return floats_to_half(from, {bits, from.size()});
  if (dtype == DType::bfloat16) return floats_to_bfloat16(from, {bits, from.size()});
  std::memcpy(to, from.data(), from.size_bytes());
}

class Cast final : public FieldStage {
 public:
  explicit Cast(const Params& params) : FieldStage(params), dtype_(dtype_of(params)) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_castable(input);
    FieldSpec output = input;
    output.dtype = dtype_;
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    if (input.dtype == dtype_) return;
    const auto count = static_cast<std::size_t>(input.shape.elements());
    std::span<const float> values;
    if (input.dtype == DType::float32) {
      values = {reinterpret_cast<const float*>(input.data), count};
    } else {
      const auto scratch = context.arena().take_array<float>(count);
      to_floats(input, scratch);
      values = scratch;
    }
    write_dense(out, dtype_, input.shape, context.arena(),
                [&](std::byte* to) { from_floats(values, dtype_, to); });
  }

  DType dtype_;
};

}  // namespace

void register_augment_cast(Registry& registry) {
  registry.add(
      {.type = "augment.cast",
       .doc =
           "Converts to float16, bfloat16 (rounding to nearest even) or float32, without scaling",
       .kind = StageKind::sample,
       .traits = {.strided_output = true},
       .params = {float_dtype_param()},
       .example = R"({"dtype": "float16"})",
       .make = [](const Params& params) { return std::make_unique<Cast>(params); }});
}

}  // namespace cachebisect::stages
