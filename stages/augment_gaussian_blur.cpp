// augment.gaussian_blur: blur with a random sigma (torchvision's GaussianBlur).
#include "stages/kernels/blur.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class GaussianBlur final : public FieldStage {
 public:
  explicit GaussianBlur(const Params& params)
      : FieldStage(params),
        kernel_size_(params.integer("kernel_size")),
        sigma_(range_of(params, "sigma")) {
    if (kernel_size_ % 2 == 0) {
      throw Error(ErrorKind::usage,
                  "kernel_size is " + std::to_string(kernel_size_) + ", must be odd");
    }
  }

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8, DType::float32});
    require_sides(input.shape, ErrorKind::usage);
    return input;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    require_sides(input.shape, ErrorKind::data);
    const double sigma = context.random().uniform(sigma_.low, sigma_.high);
    const TensorView to = out.resize(input.dtype, input.shape);
    const auto kernel = gaussian_kernel(kernel_size_, sigma, context.arena());
    visit_pixel(input.dtype, [&](auto pixel) {
      using T = decltype(pixel);
      blur(image_in<T>(input), reinterpret_cast<T*>(to.data), kernel, context.arena());
    });
  }

  // Reflection needs sides that are longer than half the kernel.
  void require_sides(const Shape& shape, ErrorKind kind) const {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (shape[axis] == kDynamic || shape[axis] > kernel_size_ / 2) continue;
      throw Error(kind, "an image " + shape.to_string() + " is too small for kernel_size " +
                            std::to_string(kernel_size_) + "; sides must be longer than " +
                            std::to_string(kernel_size_ / 2) + " pixels");
    }
  }

  std::int64_t kernel_size_;
  Range sigma_;
};

}  // namespace

void register_augment_gaussian_blur(Registry& registry) {
  registry.add(
      {.type = "augment.gaussian_blur",
       .doc = "Blurs with a Gaussian of random sigma; borders are reflected",
       .kind = StageKind::sample,
       .traits = {.random = true},
       .params = {{.name = "kernel_size",
                   .type = ParamType::integer,
                   .doc = "side of the kernel, in pixels; odd",
                   .minimum = 1,
                   .maximum = 255},
                  range_param("sigma", "range of the Gaussian's standard deviation, in pixels", 0.1,
                              2, 1e-3, 1e3)},
       .example = R"({"kernel_size": 5})",
       .make = [](const Params& params) { return std::make_unique<GaussianBlur>(params); }});
}

}  // namespace cachebisect::stages
