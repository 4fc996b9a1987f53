// augment.drop: leaves fields out of the sample, so that they are neither put into the batch nor
// copied.
#include "stages/support/field_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Drop final : public SampleStage {
 public:
  explicit Drop(const Params& params) : fields_(fields_of(params)) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override {
    SampleSpec output = input;
    for (const std::string& name : fields_) {
      require_field(output, name);
      std::erase_if(output, [&](const FieldSpec& field) { return field.name == name; });
    }
    if (output.empty()) throw Error(ErrorKind::usage, "no field would be left of the sample");
    return output;
  }

  void process(const Sample& /*input*/, Sample& out, const SampleContext&) const override {
    for (const std::string& name : fields_) out.remove(name);
  }

 private:
  std::vector<std::string> fields_;
};

}  // namespace

void register_augment_drop(Registry& registry) {
  registry.add({.type = "augment.drop",
                .doc = "Leaves fields out, so that they are neither put into the batch nor copied",
                .kind = StageKind::sample,
                .example = R"({"fields": ["label"]})",
                .make = [](const Params& params) { return std::make_unique<Drop>(params); }});
}

}  // namespace cachebisect::stages
