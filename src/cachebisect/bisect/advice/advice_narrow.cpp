// Fields of whole numbers in fewer bits before the copy, as the values in the caches show that they
// fit.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/copied_samples.hpp"
#include "cachebisect/bisect/advice/field_shapes.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

/// An element type of which whole numbers may be, with the integers that it holds exactly.
struct NumberType {
  std::string_view name;
  bool narrow = false;  ///< augment.narrow gives it
  double low = 0;
  double high = 0;

  [[nodiscard]] double bytes() const { return type_bytes(name); }
};

constexpr std::array kTypes{
    NumberType{"uint8", true, 0, 255},
    NumberType{"int8", true, -128, 127},
    NumberType{"uint16", true, 0, 65535},
    NumberType{"int32", true, -2147483648.0, 2147483647.0},
    NumberType{"int64"},
    NumberType{"float32"},
    NumberType{"float64"},
    NumberType{"bool"},
};

/// A field that fits into less.
struct Fitting {
  std::string name;
  const NumberType* now = nullptr;
  const NumberType* narrow = nullptr;  ///< null: bits
  std::vector<std::int64_t> dims;      ///< of a sample, as the batch has them
  double count = 1;                    ///< values per sample

  [[nodiscard]] double bytes() const { return count * now->bytes(); }
  [[nodiscard]] double left() const { return narrow ? count * narrow->bytes() : count / 8; }
  [[nodiscard]] std::string text() const {
    return name + " as " + (narrow ? std::string(narrow->name) : "bits");
  }
  [[nodiscard]] Json before_copy() const {
    const Json fields = Json::array({name});
    if (!narrow) return {{"use", "augment.pack_bits"}, {"fields", fields}};
    return {{"use", "augment.narrow"}, {"dtype", narrow->name}, {"fields", fields}};
  }
  [[nodiscard]] Json after_copy() const {
    const Json fields = Json::array({name});
    if (narrow) return {{"use", "device.cast"}, {"dtype", now->name}, {"fields", fields}};
    return {
        {"use", "device.unpack_bits"}, {"shape", dims}, {"dtype", now->name}, {"fields", fields}};
  }
};

/// The narrowest type that holds the values and is narrower; null if there is none.
const NumberType* narrowest(const FieldValues& values, const NumberType& now) {
  const auto* const found = std::ranges::find_if(kTypes, [&](const NumberType& type) {
    return type.narrow && values.low >= type.low && values.high <= type.high;
  });
  return found != kTypes.end() && found->bytes() < now.bytes() ? found : nullptr;
}

/// Empty where the field fits into no less. What is the same everywhere says nothing.
std::optional<Fitting> fitting(const FieldText& text, const FieldValues& values, bool planar) {
  const auto* const now = std::ranges::find(kTypes, text.dtype, &NumberType::name);
  auto dims = dims_of(text.dims);
  if (now == kTypes.end() || !dims || !values.whole || values.low >= values.high) return {};
  Fitting field{.name = values.name, .now = now, .narrow = narrowest(values, *now), .dims = *dims};
  for (const std::int64_t side : *dims) field.count *= static_cast<double>(side);
  const bool zeros_and_ones = values.low >= 0 && values.high <= 1;
  const bool whole_bytes = static_cast<std::int64_t>(field.count) % 8 == 0;
  if (zeros_and_ones && whole_bytes && keeps_its_order(field.dims, planar)) {
    field.narrow = nullptr;
    return field;
  }
  return field.narrow ? std::optional(std::move(field)) : std::nullopt;
}

std::vector<Fitting> fitting_fields(const Advice& advice, std::size_t samples, bool planar,
                                    double bytes) {
  std::vector<Fitting> all;
  const std::vector<FieldText> texts = field_texts(advice.chain().stages[samples - 1].output);
  for (const FieldValues& values : advice.field_values()) {
    const auto text = std::ranges::find(texts, values.name, &FieldText::name);
    if (text == texts.end() || values.unused) continue;
    auto field = fitting(*text, values, planar);
    if (field && field->bytes() - field->left() >= kNegligible * bytes) {
      all.push_back(*std::move(field));
    }
  }
  return all;
}

/// From the last place to the first, so that none moves the others.
std::vector<Edit> edits_for(const std::vector<Fitting>& fields, std::size_t samples,
                            std::size_t copy) {
  std::vector<Edit> edits;
  const auto insert = [&](std::size_t at, const Json& stage) {
    edits.push_back({"/stages/" + std::to_string(at), stage.dump(), EditKind::insert});
  };
  for (const Fitting& field : fields) insert(copy + 1, field.after_copy());
  for (const Fitting& field : fields) insert(samples, field.before_copy());
  return edits;
}

}  // namespace

void offer_narrow(Advice& advice, const StageReport& copy) {
  const auto samples = copied_samples(advice, copy);
  if (!samples) return;
  const std::vector<Fitting> fields =
      fitting_fields(advice, samples->stages, samples->planar, samples->bytes);
  if (fields.empty()) return;
  std::string text;
  double left = samples->bytes;
  double converted = 0;
  for (const Fitting& field : fields) {
    text += (text.empty() ? "send " : ", ") + field.text();
    left -= field.bytes() - field.left();
    converted += field.bytes();
  }
  Proposal proposal = propose(
      "narrow", copy.name, text + ", and widen it on the device",
      "by the values of cached samples the copy can do with " + format_bytes(left) + " of " +
          format_bytes(samples->bytes) + " per sample; a value that does not fit would be an error",
      edits_for(fields, samples->stages, static_cast<std::size_t>(copy.index) - 1));
  set_smaller_copy(proposal, advice, *samples, left, converted);
  advice.add(std::move(proposal));
}

}  // namespace cachebisect
