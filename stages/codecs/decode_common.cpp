#include "stages/codecs/decode_common.hpp"

#include <algorithm>
#include <string>

namespace cachebisect::stages {

FieldSpec& required_bytes(SampleSpec& spec, std::string_view name, const Shape& wanted,
                          std::string_view meaning) {
  const auto at = std::ranges::find(spec, name, &FieldSpec::name);
  if (at == spec.end())
    throw Error(ErrorKind::usage, "there is no field '" + std::string(name) + "' to decode");
  const bool fits = at->shape.rank() == 1 && (wanted[0] == kDynamic || at->shape[0] == kDynamic ||
                                              at->shape[0] == wanted[0]);
  if (at->dtype != DType::uint8 || !fits) {
    throw Error(ErrorKind::usage, "field '" + std::string(name) + "' comes in as " +
                                      std::string(to_string(at->dtype)) + " " +
                                      at->shape.to_string() + "; needed are " +
                                      std::string(meaning) + ", uint8 " + wanted.to_string());
  }
  return *at;
}

ConstTensorView record_view(const Field& field, const Shape& wanted) {
  const ConstTensorView view = field.view();
  if (view.dtype == DType::uint8 && view.shape == wanted && view.is_dense()) return view;
  throw Error(ErrorKind::data, "a record of " + view.shape.to_string() + " bytes came in; " +
                                   wanted.to_string() + " were promised");
}

}  // namespace cachebisect::stages
