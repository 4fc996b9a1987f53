// synthetic.cpu: burns CPU time, by the thread's CPU clock.
#include "stages/support/synthetic.hpp"

#include "cachebisect/base/pace.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Cpu final : public CostStage {
 public:
  using CostStage::CostStage;

 private:
  void spend(double seconds, const SampleContext& /*context*/) const override { burn_cpu(seconds); }
};

}  // namespace

void register_synthetic_cpu(Registry& registry) {
  registry.add({.type = "synthetic.cpu",
                .doc = "Burns CPU time: `us` microseconds per sample on average",
                .kind = StageKind::sample,
                .traits = {.planted = true},
                .params = cost_params(),
                .example = R"({"us": 5})",
                .make = [](const Params& params) { return std::make_unique<Cpu>(params); }});
}

}  // namespace cachebisect::stages
