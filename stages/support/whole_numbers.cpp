#include "stages/support/whole_numbers.hpp"

namespace cachebisect::stages {

void require_whole_numbers(const FieldSpec& field) {
  require_dtype(field, {DType::uint8, DType::int8, DType::uint16, DType::int32, DType::int64,
                        DType::float32, DType::float64, DType::boolean});
}

}  // namespace cachebisect::stages
