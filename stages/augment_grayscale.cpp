// augment.grayscale: colour to grey with probability p.
#include "stages/kernels/color.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Grayscale final : public FieldStage {
 public:
  explicit Grayscale(const Params& params)
      : FieldStage(params), p_(params.number("p")), channels_(params.integer("channels")) {
    if (channels_ == 2) throw Error(ErrorKind::usage, "channels is 2, must be 1 or 3");
    if (channels_ == 1 && p_ < 1) {
      throw Error(ErrorKind::usage,
                  "channels 1 needs p 1: all samples must have equally many channels");
    }
  }

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8}, "put it before augment.to_float or augment.normalize");
    if (input.shape[2] != 3 && input.shape[2] != kDynamic) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" is " + input.shape.to_string() +
                                        ", must have 3 channels");
    }
    FieldSpec output = input;
    output.shape[2] = channels_;
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    if (input.shape[2] != 3) refuse_sample("grayscale needs 3 channels", input.shape);
    if (!(context.random().uniform() < p_)) return;
    Shape shape = input.shape;
    shape[2] = channels_;
    const TensorView to = out.resize(DType::uint8, shape);
    to_grayscale({reinterpret_cast<const std::uint8_t*>(input.data), input.byte_size()},
                 {reinterpret_cast<std::uint8_t*>(to.data), to.byte_size()}, channels_);
  }

  double p_;
  std::int64_t channels_;
};

}  // namespace

void register_augment_grayscale(Registry& registry) {
  registry.add({.type = "augment.grayscale",
                .doc = "Converts colour to grey (0.2989 R + 0.587 G + 0.114 B) with probability p",
                .kind = StageKind::sample,
                .traits = {.random = true},
                .params = {probability_param(1, "probability; 1: always"),
                           {.name = "channels",
                            .type = ParamType::integer,
                            .doc = "output channels: 3 equal ones, or 1 (then p must be 1)",
                            .default_value = std::int64_t{3},
                            .minimum = 1,
                            .maximum = 3}},
                .example = R"({"p": 0.5})",
                .make = [](const Params& params) { return std::make_unique<Grayscale>(params); }});
}

}  // namespace cachebisect::stages
