// A wait after collate, by whole batches.
#include "bench/habits/stages/register.hpp"
#include "bench/habits/stages/spending.hpp"

#include "cachebisect/base/pace.hpp"

namespace cachebisect::habits {
namespace {

class BatchWait final : public BatchStage {
 public:
  explicit BatchWait(const Params& params) : seconds_(1e-6 * params.number("us")) {}

  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const HostBatch& input, OwnedHostBatch& /*out*/,
               const SampleContext& /*context*/) const override {
    pass_wait(seconds_ * static_cast<double>(input.size));
  }

 private:
  double seconds_;
};

}  // namespace

void register_batch_wait(Registry& registry) {
  registry.add({.type = "habit.batch_wait",
                .doc = "Waits `us` for each sample of a batch, without using the CPU",
                .kind = StageKind::batch,
                .traits = {.planted = true},
                .params = {number_param("us", "wait per sample, in microseconds", 0, 1e7)},
                .example = R"({"us": 5})",
                .make = [](const Params& params) { return std::make_unique<BatchWait>(params); }});
}

}  // namespace cachebisect::habits
