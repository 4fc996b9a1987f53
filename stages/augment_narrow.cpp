// augment.narrow: whole numbers in a narrower integer type; others are refused, none is changed.
#include <algorithm>
#include <optional>
#include <string>

#include "stages/support/cast_spec.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/whole_numbers.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

/// Writes `from` as To. Returns the first value that To does not hold.
template <class To, class From>
std::optional<double> narrowed(std::span<const From> from, std::byte* to) {
  auto* const out = reinterpret_cast<To*>(to);
  bool fits = true;
  for (std::size_t i = 0; i < from.size(); ++i) {
    out[i] = static_cast<To>(in_range<To>(from[i]) ? from[i] : From{});
    fits &= static_cast<From>(out[i]) == from[i];
  }
  if (fits) return std::nullopt;
  return static_cast<double>(*std::ranges::find_if_not(from, holds<To, From>));
}

class Narrow final : public FieldStage {
 public:
  explicit Narrow(const Params& params) : FieldStage(params), dtype_(dtype_of(params)) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_whole_numbers(input);
    if (size_of(input.dtype) <= size_of(dtype_)) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" is " +
                                        std::string(to_string(input.dtype)) + ", and " +
                                        std::string(to_string(dtype_)) + " is not narrower");
    }
    FieldSpec output = input;
    output.dtype = dtype_;
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    std::optional<double> unfit;
    write_dense(out, dtype_, input.shape, context.arena(),
                [&](std::byte* to) { unfit = narrow(input, to); });
    if (unfit) {
      refuse_sample("the value " + format_exact(*unfit) + " is none of " +
                        std::string(to_string(dtype_)) +
                        "; take a wider type, or leave this stage out",
                    input.shape);
    }
  }

  /// The first value that does not fit; empty if all do.
  std::optional<double> narrow(const ConstTensorView& input, std::byte* to) const {
    return with_whole_numbers(input, [&](auto values) {
      switch (dtype_) {
        case DType::int8:
          return narrowed<std::int8_t>(values, to);
        case DType::uint16:
          return narrowed<std::uint16_t>(values, to);
        case DType::int32:
          return narrowed<std::int32_t>(values, to);
        default:
          return narrowed<std::uint8_t>(values, to);
      }
    });
  }

  DType dtype_;
};

}  // namespace

void register_augment_narrow(Registry& registry) {
  registry.add(
      {.type = "augment.narrow",
       .doc = "Whole numbers of any type in a narrower integer type, for the copy; a value that "
              "does not fit is an error. device.cast gives them their type back",
       .kind = StageKind::sample,
       .traits = {.strided_output = true},
       .params = {dtype_param({DType::uint8, DType::int8, DType::uint16, DType::int32})},
       .example = R"({"dtype": "uint8"})",
       .make = [](const Params& params) { return std::make_unique<Narrow>(params); }});
}

}  // namespace cachebisect::stages
