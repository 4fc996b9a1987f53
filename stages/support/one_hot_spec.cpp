#include "stages/support/one_hot_spec.hpp"

#include "stages/support/field_stage.hpp"

namespace cachebisect::stages {

std::vector<ParamSpec> one_hot_params() {
  return {{.name = "classes",
           .type = ParamType::integer,
           .doc = "number of classes; labels are 0 to classes - 1",
           .minimum = 1,
           .maximum = 1e6},
          {.name = "fields",
           .type = ParamType::string_list,
           .doc = "names of the fields to work on; others pass through",
           .default_value = std::vector<std::string>{"label"},
           .min_items = 1}};
}

void require_labels(const FieldSpec& field) {
  require_dtype(field, {DType::uint8, DType::int32, DType::int64}, "labels are integers");
}

}  // namespace cachebisect::stages
