#include "stages/support/field_stage.hpp"

#include <algorithm>

namespace cachebisect::stages {
namespace {

std::string names_of(const SampleSpec& spec) {
  std::string out;
  for (const FieldSpec& field : spec) out += (out.empty() ? "\"" : ", \"") + field.name + "\"";
  return out.empty() ? "none" : out;
}

std::string names_of(std::initializer_list<DType> dtypes) {
  std::string out;
  for (const DType dtype : dtypes)
    out += (out.empty() ? "" : " or ") + std::string(to_string(dtype));
  return out;
}

std::string with_hint(std::string text, std::string_view hint) {
  if (!hint.empty()) text += "; " + std::string(hint);
  return text;
}

}  // namespace

std::vector<std::string> fields_of(const Params& params) {
  return params.has("fields") ? params.strings("fields") : std::vector<std::string>{"image"};
}

FieldSpec& require_field(std::vector<FieldSpec>& spec, const std::string& name) {
  const auto field = std::ranges::find(spec, name, &FieldSpec::name);
  if (field != spec.end()) return *field;
  throw Error(ErrorKind::usage, "there is no field \"" + name + "\" here (fields: " +
                                    names_of(spec) + "); set \"fields\" to one of them");
}

void require_dtype(const FieldSpec& field, std::initializer_list<DType> dtypes,
                   std::string_view hint) {
  if (std::ranges::find(dtypes, field.dtype) != dtypes.end()) return;
  throw Error(ErrorKind::usage,
              with_hint("field \"" + field.name + "\" is " + std::string(to_string(field.dtype)) +
                            ", must be " + names_of(dtypes),
                        hint));
}

void require_image(const FieldSpec& field, std::initializer_list<DType> dtypes,
                   std::string_view hint) {
  if (field.shape.rank() != 3) {
    throw Error(ErrorKind::usage,
                with_hint("field \"" + field.name + "\" has shape " + field.shape.to_string() +
                              ", must be an image [height, width, channels]",
                          "put a decode stage before this one"));
  }
  if (dtypes.size() > 0) require_dtype(field, dtypes, hint);
}

void refuse_sample(const std::string& what, const Shape& shape) {
  throw Error(ErrorKind::data, what + "; the image is " + shape.to_string());
}

SampleSpec FieldStage::infer(const SampleSpec& input) {
  SampleSpec output = input;
  for (const std::string& name : fields_) {
    FieldSpec& field = require_field(output, name);
    field = infer_field(field);
  }
  return output;
}

void FieldStage::process(const Sample& input, Sample& out, const SampleContext& context) const {
  for (const std::string& name : fields_) {
    process_field(input.field(name).view(), out.field(name), context);
  }
}

}  // namespace cachebisect::stages
