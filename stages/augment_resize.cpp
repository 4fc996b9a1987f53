// augment.resize: to an exact size, or to a given shorter side with the aspect ratio kept.
#include <optional>

#include "stages/kernels/resize.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Resize final : public FieldStage {
 public:
  explicit Resize(const Params& params)
      : FieldStage(params), exact_(optional_size(params)), filter_(resize_filter(params)) {
    if (params.has("shorter_side")) shorter_side_ = params.integer("shorter_side");
    if (exact_.has_value() == shorter_side_.has_value()) {
      throw Error(ErrorKind::usage, "give exactly one of size, height with width, or shorter_side");
    }
  }

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8, DType::float32});
    FieldSpec output = input;
    const bool known = exact_ || (input.shape[0] != kDynamic && input.shape[1] != kDynamic);
    const ImageSize size = known ? target(input.shape) : ImageSize{kDynamic, kDynamic};
    output.shape = {size.height, size.width, input.shape[2]};
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    const ImageSize size = target(input.shape);
    const Shape shape{size.height, size.width, input.shape[2]};
    if (shape == input.shape) return;
    const TensorView to = out.resize_strided(input.dtype, shape);
    visit_pixel(input.dtype, [&](auto pixel) {
      using T = decltype(pixel);
      const auto image = image_in<T>(input);
      resize(image, image.whole(), image_out<T>(to), filter_, context.arena());
    });
  }

  // Like torchvision, truncates the longer side to an integer.
  [[nodiscard]] ImageSize target(const Shape& shape) const {
    if (shape[0] == 0 || shape[1] == 0) refuse_sample("an empty image cannot be resized", shape);
    if (exact_) return *exact_;
    const bool tall = shape[0] > shape[1];
    const std::int64_t shorter = tall ? shape[1] : shape[0];
    const std::int64_t longer = *shorter_side_ * (tall ? shape[0] : shape[1]) / shorter;
    return tall ? ImageSize{longer, *shorter_side_} : ImageSize{*shorter_side_, longer};
  }

  std::optional<ImageSize> exact_;
  std::optional<std::int64_t> shorter_side_;
  ResizeFilter filter_;
};

}  // namespace

void register_augment_resize(Registry& registry) {
  StageType type{.type = "augment.resize",
                 .doc = "Resizes images to an exact size, or to a given shorter side",
                 .kind = StageKind::sample,
                 .traits = {.strided_output = true},
                 .example = R"({"size": 32})",
                 .make = [](const Params& params) { return std::make_unique<Resize>(params); }};
  add_size_params(type.params);
  type.params.push_back(side_param(
      "shorter_side", "shorter side of the output, in pixels; the aspect ratio is kept"));
  type.params.push_back(interpolation_param());
  type.params.push_back(antialias_param());
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
