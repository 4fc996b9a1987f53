#include "stages/support/cast_spec.hpp"

#include <algorithm>
#include <array>

#include "stages/support/field_stage.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::array kAll{DType::uint8,   DType::int8,    DType::uint16,   DType::int32,
                          DType::int64,   DType::float16, DType::bfloat16, DType::float32,
                          DType::float64, DType::boolean};

}  // namespace

ParamSpec dtype_param(std::initializer_list<DType> choices) {
  ParamSpec spec{.name = "dtype", .type = ParamType::string, .doc = "element type of the output"};
  for (const DType choice : choices) spec.choices.emplace_back(to_string(choice));
  return spec;
}

ParamSpec float_dtype_param() {
  return dtype_param({DType::float16, DType::bfloat16, DType::float32});
}

DType dtype_of(const Params& params) {
  const std::string& name = params.string("dtype");
  return *std::ranges::find(kAll, name, [](DType dtype) { return to_string(dtype); });
}

void require_castable(const FieldSpec& field) {
  require_dtype(field, {DType::uint8, DType::int32, DType::int64, DType::float16, DType::bfloat16,
                        DType::float32});
}

}  // namespace cachebisect::stages
