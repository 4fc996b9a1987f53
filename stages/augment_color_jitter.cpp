// augment.color_jitter: brightness, contrast, saturation and hue by random factors in random order.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "stages/kernels/color.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

using Adjust = void (*)(const Pixels&, float) noexcept;

struct Adjustment {
  Adjust adjust;
  Range factor;
  bool active;
};

class ColorJitter final : public FieldStage {
 public:
  explicit ColorJitter(const Params& params)
      : FieldStage(params),
        adjustments_{around_one(adjust_brightness, params.number("brightness")),
                     around_one(adjust_contrast, params.number("contrast")),
                     around_one(adjust_saturation, params.number("saturation")),
                     Adjustment{adjust_hue,
                                {-params.number("hue"), params.number("hue")},
                                params.number("hue") > 0}} {}

 private:
  static Adjustment around_one(Adjust adjust, double amount) {
    return {adjust, {std::max(0.0, 1 - amount), 1 + amount}, amount > 0};
  }

  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8}, "put it before augment.to_float or augment.normalize");
    const std::int64_t channels = input.shape[2];
    if (channels != 1 && channels != 3 && channels != kDynamic) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" has " + std::to_string(channels) +
                                        " channels, must have 1 or 3");
    }
    return input;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    if (input.shape[2] != 1 && input.shape[2] != 3)
      refuse_sample("colour jitter needs 1 or 3 channels", input.shape);
    RandomStream random = context.random();
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1)]);
    const TensorView to = out.resize(DType::uint8, input.shape);
    std::memcpy(to.data, input.data, input.byte_size());
    const Pixels pixels{{reinterpret_cast<std::uint8_t*>(to.data), input.byte_size()},
                        input.shape[2]};
    for (const std::size_t i : order) {
      const Adjustment& each = adjustments_[i];
      const double factor = random.uniform(each.factor.low, each.factor.high);
      if (each.active) each.adjust(pixels, static_cast<float>(factor));
    }
  }

  std::array<Adjustment, 4> adjustments_;
};

ParamSpec amount(std::string name, std::string doc, std::optional<double> maximum) {
  return {.name = std::move(name),
          .type = ParamType::number,
          .doc = std::move(doc),
          .default_value = 0.0,
          .minimum = 0,
          .maximum = maximum};
}

}  // namespace

void register_augment_color_jitter(Registry& registry) {
  constexpr double kMaxAmount = 100;
  registry.add(
      {.type = "augment.color_jitter",
       .doc = "Changes brightness, contrast, saturation and hue by random factors in random order",
       .kind = StageKind::sample,
       .traits = {.random = true},
       .params = {amount("brightness", "factor from max(0, 1 - b) to 1 + b", kMaxAmount),
                  amount("contrast", "factor from max(0, 1 - c) to 1 + c", kMaxAmount),
                  amount("saturation", "factor from max(0, 1 - s) to 1 + s", kMaxAmount),
                  amount("hue", "shift from -h to h, in full turns", 0.5)},
       .example = R"({"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1})",
       .make = [](const Params& params) { return std::make_unique<ColorJitter>(params); }});
}

}  // namespace cachebisect::stages
