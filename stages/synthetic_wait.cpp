// synthetic.wait: waits without using the CPU, like a read from storage.
#include "stages/support/synthetic.hpp"

#include "cachebisect/base/pace.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Wait final : public CostStage {
 public:
  using CostStage::CostStage;

 private:
  void spend(double seconds, const SampleContext& /*context*/) const override {
    pass_wait(seconds);
  }
};

}  // namespace

void register_synthetic_wait(Registry& registry) {
  registry.add({.type = "synthetic.wait",
                .doc = "Waits without using the CPU: `us` microseconds per sample on average",
                .kind = StageKind::sample,
                .traits = {.planted = true},
                .params = cost_params(),
                .example = R"({"us": 5})",
                .make = [](const Params& params) { return std::make_unique<Wait>(params); }});
}

}  // namespace cachebisect::stages
