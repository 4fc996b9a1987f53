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

bool fits(const Shape& shape, const Shape& wanted) {
  return shape.rank() == 1 &&
         (wanted[0] == kDynamic || shape[0] == kDynamic || shape[0] == wanted[0]);
}

bool fits(std::size_t entries, std::int64_t channels) {
  return entries == 1 || channels == kDynamic || static_cast<std::int64_t>(entries) == channels;
}

std::string entries_text(std::string_view subject, std::size_t entries) {
  return std::string(subject) + " " + std::to_string(entries) + " entries";
}

std::string bytes_text(const Shape& shape) { return "uint8 " + shape.to_string(); }

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

void require_bytes(const FieldSpec& field, const Shape& wanted, std::string_view meaning) {
  if (field.dtype == DType::uint8 && fits(field.shape, wanted)) return;
  throw Error(ErrorKind::usage, "field \"" + field.name + "\" is " +
                                    std::string(to_string(field.dtype)) + " " +
                                    field.shape.to_string() + ", must be " + std::string(meaning) +
                                    ": " + bytes_text(wanted));
}

void require_entries(std::string_view subject, std::size_t entries, const FieldSpec& field,
                     std::int64_t channels) {
  if (fits(entries, channels)) return;
  throw Error(ErrorKind::usage, entries_text(subject, entries) + ", field \"" + field.name +
                                    "\" has " + std::to_string(channels) + " channels in " +
                                    field.shape.to_string() +
                                    "; give one entry per channel, or one for all");
}

void refuse_sample(const std::string& what, const Shape& shape) {
  throw Error(ErrorKind::data, what + "; the image is " + shape.to_string());
}

void check_entries(std::string_view subject, std::size_t entries, const Shape& shape) {
  if (!fits(entries, shape[2])) refuse_sample(entries_text(subject, entries), shape);
}

std::span<const std::byte> checked_bytes(const ConstTensorView& field, const Shape& wanted) {
  if (field.dtype == DType::uint8 && field.is_dense() && fits(field.shape, wanted))
    return {field.data, field.byte_size()};
  throw Error(ErrorKind::data, "the field is " + std::string(to_string(field.dtype)) + " " +
                                   field.shape.to_string() + ", must be " + bytes_text(wanted));
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
