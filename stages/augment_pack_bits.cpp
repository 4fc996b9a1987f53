// augment.pack_bits: fields of zeros and ones, eight to a byte.
#include <algorithm>
#include <string>

#include "stages/support/field_stage.hpp"
#include "stages/support/whole_numbers.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::size_t kBits = 8;

/// Most significant bit first, as DeviceOps::unpack_bits. False if a value is neither 0 nor 1.
template <class Value>
bool pack(std::span<const Value> values, std::span<std::byte> to) {
  bool fits = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    unsigned byte = 0;
    for (const Value value : values.subspan(kBits * i, kBits)) {
      const bool one = value == Value{1};
      fits &= one || value == Value{};
      byte = 2 * byte + (one ? 1 : 0);
    }
    to[i] = static_cast<std::byte>(byte);
  }
  return fits;
}

class PackBits final : public FieldStage {
 public:
  explicit PackBits(const Params& params) : FieldStage(params) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_whole_numbers(input);
    const std::int64_t values = input.shape.is_static() ? input.shape.elements() : kDynamic;
    if (values != kDynamic && values % static_cast<std::int64_t>(kBits) != 0) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" is " + input.shape.to_string() +
                                        ", must have a multiple of 8 values");
    }
    const std::int64_t bytes =
        values == kDynamic ? kDynamic : values / static_cast<std::int64_t>(kBits);
    return {input.name, DType::uint8, Shape{bytes}};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& /*context*/) const override {
    const auto values = static_cast<std::size_t>(input.shape.elements());
    if (values % kBits != 0) refuse_sample("packing needs a multiple of 8 values", input.shape);
    const TensorView to =
        out.resize(DType::uint8, Shape{static_cast<std::int64_t>(values / kBits)});
    with_whole_numbers(input, [&](auto given) {
      if (pack(given, {to.data, values / kBits})) return;
      const auto unfit =
          std::ranges::find_if_not(given, [](auto value) { return value == 0 || value == 1; });
      refuse_sample("the value " + format_exact(static_cast<double>(*unfit)) +
                        " is neither 0 nor 1; leave this stage out",
                    input.shape);
    });
  }
};

}  // namespace

void register_augment_pack_bits(Registry& registry) {
  registry.add({.type = "augment.pack_bits",
                .doc =
                    "Zeros and ones of any type, eight to a byte, for the copy; other values are "
                    "an error. device.unpack_bits gives them their type and shape back",
                .kind = StageKind::sample,
                .example = R"({"fields": ["image"]})",
                .make = [](const Params& params) { return std::make_unique<PackBits>(params); }});
}

}  // namespace cachebisect::stages
