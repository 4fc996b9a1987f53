// augment.one_hot: an integer label as a one-hot float32 vector.
#include <algorithm>

#include "stages/support/field_stage.hpp"
#include "stages/support/one_hot_spec.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class OneHot final : public FieldStage {
 public:
  explicit OneHot(const Params& params) : FieldStage(params), classes_(params.integer("classes")) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_labels(input);
    if (input.shape.elements() != 1) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" has shape " +
                                        input.shape.to_string() + ", must be a single label");
    }
    return {input.name, DType::float32, Shape{classes_}};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext&) const override {
    const std::int64_t label = out.as_integer();
    if (label < 0 || label >= classes_ || input.shape.elements() != 1) {
      throw Error(ErrorKind::data, "label " + std::to_string(label) + " is outside 0 to " +
                                       std::to_string(classes_ - 1) + "; raise \"classes\"");
    }
    const std::span<float> values = out.resize_as<float>(Shape{classes_});
    std::ranges::fill(values, 0.0F);
    values[static_cast<std::size_t>(label)] = 1.0F;
  }

  std::int64_t classes_;
};

}  // namespace

void register_augment_one_hot(Registry& registry) {
  registry.add({.type = "augment.one_hot",
                .doc = "Converts an integer label to a one-hot float32 vector",
                .kind = StageKind::sample,
                .params = one_hot_params(),
                .example = R"({"classes": 10})",
                .make = [](const Params& params) { return std::make_unique<OneHot>(params); }});
}

}  // namespace cachebisect::stages
