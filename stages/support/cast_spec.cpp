#include "stages/support/cast_spec.hpp"

#include <string>

#include "stages/support/field_stage.hpp"

namespace cachebisect::stages {

ParamSpec float_dtype_param() {
  return {.name = "dtype",
          .type = ParamType::string,
          .doc = "element type of the output",
          .choices = {"float16", "bfloat16", "float32"}};
}

DType float_dtype_of(const Params& params) {
  const std::string& name = params.string("dtype");
  if (name == "float16") return DType::float16;
  return name == "bfloat16" ? DType::bfloat16 : DType::float32;
}

void require_castable(const FieldSpec& field) {
  require_dtype(field, {DType::uint8, DType::int32, DType::int64, DType::float16, DType::bfloat16,
                        DType::float32});
}

}  // namespace cachebisect::stages
