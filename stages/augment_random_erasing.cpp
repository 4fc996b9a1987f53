// augment.random_erasing: overwrites a random rectangle (torchvision's RandomErasing).
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
    require_entries("value has", value_.size(), input, input.shape[2]);
    return input;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    RandomStream random = context.random();
    if (!(random.uniform() < p_)) return;
    const auto box = random_erasing_box(input.shape[0], input.shape[1], scale_, ratio_, random);
    if (!box) return;
    check_entries("value has", value_.size(), input.shape);
    const TensorView to = out.resize(input.dtype, input.shape);
    std::memcpy(to.data, input.data, input.byte_size());
    visit_pixel(input.dtype, [&](auto pixel) { erase(image_out<decltype(pixel)>(to), *box); });
  }

  template <class T>
  void erase(const ImageOut<T>& image, const Box& box) const {
    for (std::int64_t c = 0; c < image.channels; ++c) {
      const T value = to_pixel<T>(value_[value_.size() == 1 ? 0 : static_cast<std::size_t>(c)]);
      for (std::int64_t y = box.top; y < box.top + box.height; ++y) {
        T* row = image.row(y) + c;
        for (std::int64_t x = box.left; x < box.left + box.width; ++x)
          row[x * image.column_stride] = value;
      }
    }
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
       .params = {probability_param(0.5, "probability of erasing"),
                  range_param("scale", "range of the rectangle's share of the image area", 0.02,
                              0.33, 1e-6, 1),
                  range_param("ratio", "range of the rectangle's aspect ratio, height over width",
                              0.3, 3.3, 1e-3, 1e3),
                  {.name = "value",
                   .type = ParamType::number_list,
                   .doc =
                       "value written; one per channel or one for all, on the scale of the pixels",
                   .default_value = std::vector<double>{0},
                   .minimum = -1e6,
                   .maximum = 1e6,
                   .min_items = 1,
                   .max_items = 1024}},
       .example = R"({"p": 1.0})",
       .make = [](const Params& params) { return std::make_unique<RandomErasing>(params); }});
}

}  // namespace cachebisect::stages
