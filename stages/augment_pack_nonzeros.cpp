// augment.pack_nonzeros: fields that are mostly zeros, as positions and values.
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "stages/support/field_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

/// Rows are aligned for every type.
constexpr std::int64_t kEntriesAtOnce = 8;
constexpr double kMostEntries = 1 << 28;

/// Positions and values that are not zero in all bits, as DeviceOps::unpack_nonzeros reads them. So
/// many of them; of more than `most` none beyond is written.
template <class Word>
std::size_t pack(const std::byte* from, std::size_t count, std::size_t most, std::byte* to) {
  std::byte* const values = to + most * sizeof(std::int32_t);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Word word{};
    std::memcpy(&word, from + i * sizeof word, sizeof word);
    if (word == 0) continue;
    if (found < most) {
      const auto position = static_cast<std::int32_t>(i);
      std::memcpy(to + found * sizeof position, &position, sizeof position);
      std::memcpy(values + found * sizeof word, &word, sizeof word);
    }
    ++found;
  }
  if (found < most) {
    std::memset(to + found * sizeof(std::int32_t), 0xff, (most - found) * sizeof(std::int32_t));
    std::memset(values + found * sizeof(Word), 0, (most - found) * sizeof(Word));
  }
  return found;
}

class PackNonzeros final : public FieldStage {
 public:
  explicit PackNonzeros(const Params& params)
      : FieldStage(params),
        most_((params.integer("most") + kEntriesAtOnce - 1) / kEntriesAtOnce * kEntriesAtOnce) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    return {input.name, DType::uint8, Shape{bytes(input.dtype)}};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    if (input.shape.elements() > std::numeric_limits<std::int32_t>::max())
      refuse_sample("positions of more than 2^31 - 1 values have no place", input.shape);
    const std::byte* from = input.data;
    if (!input.is_dense()) {
      const auto dense = context.arena().take(input.byte_size());
      copy_tensor(input, dense_view(dense.data(), input.dtype, input.shape));
      from = dense.data();
    }
    const TensorView to = out.resize(DType::uint8, Shape{bytes(input.dtype)});
    const std::size_t found = packed(input, from, to.data);
    if (found <= static_cast<std::size_t>(most_)) return;
    refuse_sample(std::to_string(found) + " values are not zero, and \"most\" is " +
                      std::to_string(most_) + "; give it more, or leave this stage out",
                  input.shape);
  }

  [[nodiscard]] std::int64_t bytes(DType dtype) const {
    return most_ * static_cast<std::int64_t>(sizeof(std::int32_t) + size_of(dtype));
  }

  [[nodiscard]] std::size_t packed(const ConstTensorView& input, const std::byte* from,
                                   std::byte* to) const {
    const auto count = static_cast<std::size_t>(input.shape.elements());
    const auto most = static_cast<std::size_t>(most_);
    switch (size_of(input.dtype)) {
      case 1:
        return pack<std::uint8_t>(from, count, most, to);
      case 2:
        return pack<std::uint16_t>(from, count, most, to);
      case 4:
        return pack<std::uint32_t>(from, count, most, to);
      default:
        return pack<std::uint64_t>(from, count, most, to);
    }
  }

  std::int64_t most_;
};

}  // namespace

void register_augment_pack_nonzeros(Registry& registry) {
  registry.add(
      {.type = "augment.pack_nonzeros",
       .doc = "Fields that are mostly zeros, as positions and values, for the copy; more values "
              "than `most` are an error. device.unpack_nonzeros gives the fields back",
       .kind = StageKind::sample,
       .params = {{.name = "most",
                   .type = ParamType::integer,
                   .doc = "values of a sample's field that are not zero; rounded up to a multiple "
                          "of 8. Each takes 4 bytes and those of its type",
                   .minimum = 1,
                   .maximum = kMostEntries}},
       .example = R"({"most": 50000, "fields": ["image"]})",
       .make = [](const Params& params) { return std::make_unique<PackNonzeros>(params); }});
}

}  // namespace cachebisect::stages
