// What to try at collate, the copy and device stages.
#include <string>
#include <utility>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"

namespace cachebisect {
namespace {

std::string bytes_per_batch(const ChainDescription& chain) {
  const auto& bytes = chain.stages.back().output_bytes;
  if (!bytes) return "its size is not known";
  return rate(*bytes * static_cast<double>(chain.batch_size) / 1e6) + " MB per batch";
}

void advise_on_collate(Advice& advice, const StageReport& stage) {
  offer_buckets(advice, stage, " of every batch is padding");
  offer_worker_settings(advice, stage);
  offer_unused(advice, stage);
  advice.add_workers(stage.name, "batches are put together by the workers");
  if (advice.of_code()) offer_bytes(advice);
  advice.add(propose("smaller_samples", stage.name,
                     "make samples smaller before they are put together",
                     "collate copies every byte of the batch"));
}

/// In code, the copy stays on the stream of the step: only the training thread does not wait.
void propose_copy_without_waiting(Advice& advice, const StageReport& stage) {
  const ChainDescription& chain = advice.chain();
  const std::string pointer = "/stages/" + std::to_string(stage.index - 1);
  std::vector<Edit> edits;
  if (!chain.copy_pinned) edits.push_back({pointer + "/pinned", "true"});
  if (chain.copy_non_blocking == false) edits.push_back({pointer + "/non_blocking", "true"});
  if (edits.empty()) return;
  advice.add(propose("overlap_copy", stage.name, "copy from pinned memory, without waiting for it",
                     "only then does the training thread launch the step while the copy runs",
                     std::move(edits)));
}

void propose_overlap(Advice& advice, const StageReport& stage) {
  const ChainDescription& chain = advice.chain();
  if (advice.of_code()) return propose_copy_without_waiting(advice, stage);
  const std::string pointer = "/stages/" + std::to_string(stage.index - 1);
  std::vector<Edit> edits;
  if (!chain.copy_pinned) edits.push_back({pointer + "/pinned", "true"});
  if (chain.copy_non_blocking == false) edits.push_back({pointer + "/non_blocking", "true"});
  if (chain.copy_prefetch == 0) edits.push_back({pointer + "/prefetch", "2"});
  if (edits.empty()) return;
  advice.add(propose("overlap_copy", stage.name,
                     "copy from pinned memory, ahead of the step, on a separate stream",
                     "only then do copy and training step run at the same time", std::move(edits),
                     CostChanges{.workers = {}, .stages = {}, .copy_overlaps = true}));
}

void advise_on_copy(Advice& advice, const StageReport& stage) {
  propose_overlap(advice, stage);
  offer_unused(advice, stage);
  for (const StageReport& before : advice.stages()) {
    if (before.type == "augment.one_hot") offer_device(advice, before);
  }
  offer_bytes(advice);
  offer_narrow(advice, stage);
  offer_sparse(advice, stage);
  offer_ragged(advice, stage);
  offer_half(advice, stage);
  for (const StageReport& before : advice.stages())
    offer_buckets(advice, before, " of what is copied is padding");
  advice.add(propose("fewer_bytes", stage.name,
                     "drop fields that the step does not use, or store them narrower",
                     "the copy pays by the byte: " + bytes_per_batch(advice.chain())));
  advice.add(propose("half", stage.name,
                     "cast floats to 16 bits before the copy, if the step computes in 16 bits",
                     "it halves what is copied", {}, scaled_copy(advice, 0.5)));
}

void advise_on_device_stage(Advice& advice, const StageReport& stage) {
  advice.add(propose("fuse", stage.name,
                     "do " + stage.name + " inside the training step's own compiled graph",
                     "each device stage reads and writes the whole batch once more"));
  advice.add(propose("half", stage.name, "compute it in 16 bits",
                     "device stages are bound by memory bandwidth"));
}

}  // namespace

void advise_on_batch_stage(Advice& advice, const StageReport& stage) {
  if (stage.category == Category::copy) return advise_on_copy(advice, stage);
  if (stage.category == Category::device) return advise_on_device_stage(advice, stage);
  advise_on_collate(advice, stage);
}

}  // namespace cachebisect
