// synthetic.read: a source that costs nothing.
#include "stages/support/synthetic.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Read final : public SourceStage {
 public:
  explicit Read(const Params& params)
      : samples_(static_cast<std::uint64_t>(params.integer("samples"))),
        bytes_(params.integer("bytes")) {}

  std::uint64_t size() const override { return samples_; }
  SampleSpec infer() override {
    return {{"image", DType::uint8, Shape{bytes_.bytes()}}, {"label", DType::int64, Shape{}}};
  }
  void read(Sample& out, const SampleContext& context) const override {
    const std::uint64_t index = context.index();
    bytes_.show(index, out.field("image"));
    out.field("label").set(static_cast<std::int64_t>(index));
  }

 private:
  std::uint64_t samples_;
  FreeBytes bytes_;
};

}  // namespace

void register_synthetic_read(Registry& registry) {
  registry.add({.type = "synthetic.read",
                .doc = "A source that costs nothing: `image` is `bytes` of uint8, `label` the "
                       "index of the sample",
                .kind = StageKind::source,
                .traits = {.planted = true},
                .params = {bytes_param("size of a sample's image, in bytes", 1024),
                           {.name = "samples",
                            .type = ParamType::integer,
                            .doc = "number of samples",
                            .default_value = std::int64_t{65536},
                            .minimum = 1,
                            .maximum = 1e12}},
                .example = R"({"bytes": 1024, "samples": 4096})",
                .make = [](const Params& params) { return std::make_unique<Read>(params); }});
}

}  // namespace cachebisect::stages
