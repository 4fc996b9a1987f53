// synthetic.payload: changes the size of a sample, at no other cost.
#include "stages/support/field_stage.hpp"
#include "stages/support/synthetic.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Payload final : public FieldStage {
 public:
  explicit Payload(const Params& params) : FieldStage(params), bytes_(params.integer("bytes")) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    return {input.name, DType::uint8, Shape{bytes_.bytes()}};
  }
  void process_field(const ConstTensorView&, Field& out,
                     const SampleContext& context) const override {
    bytes_.show(context.index(), out);
  }

  FreeBytes bytes_;
};

}  // namespace

void register_synthetic_payload(Registry& registry) {
  registry.add({.type = "synthetic.payload",
                .doc = "Replaces the field by `bytes` bytes of uint8, at no cost",
                .kind = StageKind::sample,
                .traits = {.planted = true},
                .params = {bytes_param("size of the output, in bytes", 1024)},
                .example = R"({"bytes": 2048})",
                .make = [](const Params& params) { return std::make_unique<Payload>(params); }});
}

}  // namespace cachebisect::stages
