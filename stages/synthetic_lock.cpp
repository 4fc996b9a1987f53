// synthetic.lock: a serial section that workers pass one at a time, in order of arrival.
#include "stages/support/synthetic.hpp"

#include "cachebisect/base/pace.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Lock final : public CostStage {
 public:
  using CostStage::CostStage;

 private:
  void spend(double seconds, const SampleContext& context) const override {
    pass_serial_section(section_, seconds);
    context.add_serial_seconds(seconds);
  }

  mutable FifoTimeline section_;
};

}  // namespace

void register_synthetic_lock(Registry& registry) {
  registry.add({.type = "synthetic.lock",
                .doc = "Passes a section that admits one worker at a time: `us` microseconds per "
                       "sample on average",
                .kind = StageKind::sample,
                .traits = {.planted = true},
                .params = cost_params(),
                .example = R"({"us": 5})",
                .make = [](const Params& params) { return std::make_unique<Lock>(params); }});
}

}  // namespace cachebisect::stages
