#include "stages/support/batch_field_stage.hpp"

#include <algorithm>

#include "stages/support/field_stage.hpp"

namespace cachebisect::stages {

BatchFieldStage::BatchFieldStage(const Params& params) : fields_(fields_of(params)) {}

BatchSpec BatchFieldStage::infer(const BatchSpec& input) {
  BatchSpec output = input;
  for (const std::string& name : fields_) {
    FieldSpec& field = require_field(output, name);
    field = infer_field(field);
  }
  return output;
}

void BatchFieldStage::process(const DeviceBatch& input, OwnedDeviceBatch& out,
                              const DeviceContext& context) const {
  for (const std::string& name : fields_) {
    const auto found = std::ranges::find(input.fields, name, &BatchField::name);
    if (found == input.fields.end()) {
      throw Error(ErrorKind::internal, "the batch has no field \"" + name + "\"");
    }
    const TensorView& from = found->tensor;
    const FieldSpec to = infer_field({name, from.dtype, from.shape});
    const auto place = static_cast<std::size_t>(found - input.fields.begin());
    run(from, out.resize_field(place, name, to.dtype, to.shape), input, context);
  }
}

}  // namespace cachebisect::stages
