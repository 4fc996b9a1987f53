#include "stages/support/sample_shape.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {

ParamSpec sample_shape_param() {
  return {.name = "shape",
          .type = ParamType::number_list,
          .doc = "of the field of one sample, as the batch has it",
          .minimum = 1,
          .maximum = 1e9,
          .min_items = 1,
          .max_items = Shape::kMaxRank - 1};
}

Shape sample_shape_of(const Params& params) {
  constexpr double kMostValues = 1e12;
  std::vector<std::int64_t> dims;
  double values = 1;
  for (const double side : params.numbers("shape")) {
    dims.push_back(static_cast<std::int64_t>(side));
    values *= side;
    if (side != std::floor(side)) throw Error(ErrorKind::usage, "shape must be whole numbers");
  }
  if (values > kMostValues) throw Error(ErrorKind::usage, "shape has too many values");
  return Shape(dims);
}

}  // namespace cachebisect::stages
