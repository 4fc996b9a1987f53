// augment.random_erasing: overwrites a random rectangle (torchvision's RandomErasing).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "stages/kernels/geometry.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class RandomErasing final : public FieldStage {
 public:
  explicit RandomErasing(const Params& params)
      : FieldStage(params),
        p_(params.number("p")),
        scale_(range_of(params, "scale")),
        ratio_(range_of(params, "ratio")),
        value_(params.numbers("value").begin(), params.numbers("value").end()) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8, DType::float32});
    const auto entries = static_cast<std::int64_t>(value_.size());
    if (entries != 1 && input.shape[2] != kDynamic && entries != input.shape[2]) {
      throw Error(ErrorKind::usage, "value has " + std::to_string(entries) + " entries, field \"" +
                                        input.name + "\" has " + std::to_string(input.shape[2]) +
                                        " channels; give one for all or one a channel");
    }
    return input;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    RandomStream random = context.random();
    if (!(random.uniform() < p_)) return;
    const auto box = random_erasing_box(input.shape[0], input.shape[1], scale_, ratio_, random);
    if (!box) return;
    if (value_.size() != 1 && static_cast<std::int64_t>(value_.size()) != input.shape[2])
      refuse_sample("value has " + std::to_string(value_.size()) + " entries", input.shape);
    const TensorView to = out.resize(input.dtype, input.shape);
    std::memcpy(to.data, input.data, input.byte_size());
    visit_pixel(input.dtype, [&](auto pixel) { erase(image_out<decltype(pixel)>(to), *box); });
  }

  template <class T>
  void erase(const ImageOut<T>& image, const Box& box) const {
    for (std::int64_t c = 0; c < image.channels; ++c) {
      const T value = pixel_value<T>(value_[value_.size() == 1 ? 0 : static_cast<std::size_t>(c)]);
      for (std::int64_t y = box.top; y < box.top + box.height; ++y) {
        T* row = image.row(y) + c;
        for (std::int64_t x = box.left; x < box.left + box.width; ++x)
          row[x * image.column_stride] = value;
      }
    }
  }

  template <class T>
  static T pixel_value(float value) {
    if constexpr (std::is_same_v<T, float>) return value;
    return static_cast<T>(std::clamp(std::nearbyint(value), 0.0F, 255.0F));
  }

  double p_;
  Range scale_;
  Range ratio_;
  std::vector<float> value_;
};

}  // namespace

void register_augment_random_erasing(Registry& registry) {
  registry.add(
      {.type = "augment.random_erasing",
       .doc = "Overwrites a random rectangle with probability p",
       .kind = StageKind::sample,
       .traits = {.random = true},
       .params = {probability_param(0.5, "probability of an erasure"),
                  range_param("scale", "range of the rectangle's share of the image's area", 0.02,
                              0.33, 1e-6, 1),
                  range_param("ratio", "range of the rectangle's height over width", 0.3, 3.3, 1e-3,
                              1e3),
                  {.name = "value",
                   .type = ParamType::number_list,
                   .doc = "what is written, one for all or one a channel, in units of the pixels",
                   .default_value = std::vector<double>{0},
                   .minimum = -1e6,
                   .maximum = 1e6,
                   .min_items = 1,
                   .max_items = 1024}},
       .example = R"({"p": 1.0})",
       .make = [](const Params& params) { return std::make_unique<RandomErasing>(params); }});
}

}  // namespace cachebisect::stages
