// augment.random_crop: a crop at a random position, after padding (torchvision's RandomCrop).
#include "stages/kernels/crop.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class RandomCrop final : public FieldStage {
 public:
  explicit RandomCrop(const Params& params)
      : FieldStage(params), size_(required_size(params)), padding_(params.integer("padding")) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {});
    require_room(input.shape, ErrorKind::usage);
    FieldSpec output = input;
    output.shape = {size_.height, size_.width, input.shape[2]};
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    require_room(input.shape, ErrorKind::data);
    RandomStream random = context.random();
    const std::int64_t top = draw(random, input.shape[0], size_.height);
    const std::int64_t left = draw(random, input.shape[1], size_.width);
    const Shape shape{size_.height, size_.width, input.shape[2]};
    if (top == 0 && left == 0 && shape == input.shape) return;
    const TensorView to = out.resize_strided(input.dtype, shape);
    visit_bits(input.dtype, [&](auto bits) {
      using T = decltype(bits);
      crop(image_in<T>(input), top, left, image_out<T>(to), T{0});
    });
  }

  [[nodiscard]] std::int64_t draw(RandomStream& random, std::int64_t length,
                                  std::int64_t size) const {
    const auto positions = static_cast<std::uint64_t>(length + 2 * padding_ - size + 1);
    return static_cast<std::int64_t>(random.below(positions)) - padding_;
  }

  void require_room(const Shape& shape, ErrorKind kind) const {
    const auto fits = [&](std::int64_t length, std::int64_t size) {
      return length == kDynamic || length + 2 * padding_ >= size;
    };
    if (fits(shape[0], size_.height) && fits(shape[1], size_.width)) return;
    throw Error(kind, "an image " + shape.to_string() + " with padding " +
                          std::to_string(padding_) + " is smaller than the crop of " +
                          std::to_string(size_.height) + " x " + std::to_string(size_.width) +
                          "; resize first, or pad more");
  }

  ImageSize size_;
  std::int64_t padding_;
};

}  // namespace

void register_augment_random_crop(Registry& registry) {
  StageType type{.type = "augment.random_crop",
                 .doc = "Crops a fixed size at a random position, after padding with zeros",
                 .kind = StageKind::sample,
                 .traits = {.random = true, .strided_output = true},
                 .example = R"({"size": 32, "padding": 4})",
                 .make = [](const Params& params) { return std::make_unique<RandomCrop>(params); }};
  add_size_params(type.params);
  type.params.push_back({.name = "padding",
                         .type = ParamType::integer,
                         .doc = "zeros added on each side before cropping, in pixels",
                         .default_value = std::int64_t{0},
                         .minimum = 0,
                         .maximum = kMaxSide});
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
