// What to try at the training step.
#include <algorithm>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"

namespace cachebisect {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// For the function of the user that takes most of the step.
void offer_workers(Advice& advice) {
  const auto& functions = advice.step_functions();
  const auto found = std::ranges::find_if(functions, &StepFunction::movable);
  if (found == functions.end()) return;
  advice.add(propose("move_to_workers", "",
                     "run " + found->name +
                         " in the loader's workers, as in its collate_fn, if it "
                         "needs nothing but the batch",
                     "it takes " + percent(found->share) +
                         " of the step on the host, and calls no part of the model"));
}

}  // namespace

void advise_on_training_step(Advice& advice) {
  const ChainDescription& chain = advice.chain();
  const bool gpu = chain.device_kind == DeviceKind::cuda;
  // Code does not tell.
  const bool fp32 = advice.of_code() ? gpu : contains(chain.train, "fp32");
  offer_workers(advice);
  const std::vector<Edit> bf16{{"/train/precision", R"("bf16-mixed")"}};
  if (chain.device_kind == DeviceKind::cpu && !advice.of_code()) {
    advice.add(propose("emulate", "", "see where this input would stand with a GPU behind it",
                       "on the CPU the step is slow enough to hide every stage", {}, {},
                       {"--device emulated"}));
  }
  if (chain.sync_every > 0 || (advice.of_code() && advice.is_host_bound())) {
    advice.add(propose("no_sync", "",
                       "do not wait for the device in every step (loss.item() and the like)",
                       "the host cannot run ahead of the device", {{"/train/sync_every", "0"}}));
  }
  if (fp32 && gpu) {
    advice.add(propose("precision", "", "train in bf16-mixed precision",
                       "tensor cores are several times faster in 16 bits", bf16));
  }
  const std::string larger = std::to_string(2 * chain.batch_size);
  advice.add(propose("batch_size", "", "use a larger batch, as far as memory allows",
                     "a step has costs that do not grow with the batch", {{"/batch_size", larger}},
                     {}, {"--batch-size " + larger}));
  if (fp32 && !gpu) {
    advice.add(propose("precision", "", "train in bf16-mixed precision where the processor has it",
                       "half the bytes move in every layer", bf16));
  }
  advice.add(propose("model", "",
                     "make the model cheaper: fewer channels, smaller input, a compiled graph",
                     "all of the time goes into the training step"));
}

}  // namespace cachebisect
