// What to try at the transfer of batches between processes, and where they are pinned.
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"

namespace cachebisect {
namespace {

/// Fewer are not worth a change.
constexpr std::uint64_t kManyTensors = 8;
constexpr std::uint64_t kManyObjects = 64;

std::string megabytes(const BatchContents& batch) { return rate(batch.bytes / 1e6) + " MB"; }

void propose_packing(Advice& advice, const StageReport& stage, const BatchContents& batch) {
  if (batch.tensors < kManyTensors || 2 * batch.packed_tensors > batch.tensors) return;
  const std::string tensors = std::to_string(batch.tensors);
  advice.add(propose("pack", stage.name,
                     "pack the " + tensors + " tensors of a batch into " +
                         std::to_string(batch.packed_tensors) + ", in collate_fn",
                     "each tensor travels as a shared memory file of its own, which is created, "
                     "sent, opened and mapped"));
}

void propose_fewer_objects(Advice& advice, const StageReport& stage, const BatchContents& batch) {
  if (batch.objects < kManyObjects) return;
  advice.add(
      propose("fewer_objects", stage.name,
              "put the " + std::to_string(batch.objects) +
                  " Python objects of a batch into tensors, or leave out what the step does "
                  "not use",
              "each is pickled in the worker, and built again in the training process, which "
              "cannot train meanwhile"));
}

void propose_sharing_by_name(Advice& advice, const StageReport& stage, const BatchContents& batch) {
  if (batch.tensors < kManyTensors) return;
  advice.add(propose("sharing_strategy", stage.name,
                     "share tensors by file name instead of by file descriptor",
                     std::to_string(batch.tensors) + " file descriptors are sent with each batch",
                     {{"/sharing_strategy", "\"file_system\""}}));
}

/// Seconds per sample that all stages before the transfer keep a worker busy; empty if unknown.
std::optional<double> loading_seconds(const Advice& advice, const StageReport& transfer) {
  double seconds = 0;
  for (const StageReport& stage : advice.stages()) {
    if (stage.index >= transfer.index) break;
    if (!stage.cpu_seconds_per_sample) return std::nullopt;
    seconds += *stage.cpu_seconds_per_sample + stage.wait_seconds_per_sample.value_or(0);
  }
  return seconds;
}

void propose_no_workers(Advice& advice, const StageReport& stage) {
  const auto loading = loading_seconds(advice, stage);
  const auto& sending = stage.seconds_per_sample;
  if (!loading || !sending || *loading >= *sending) return;
  CostChanges changes = free_stage(stage);
  changes.workers = 0;
  advice.add(propose("no_workers", stage.name, "load in the training process, without workers",
                     "making a batch takes less time than sending it", {{"/workers", "0"}},
                     std::move(changes)));
}

}  // namespace

void advise_on_transfer(Advice& advice, const StageReport& stage) {
  const auto& batch = advice.chain().batch_contents;
  offer_unused(advice, stage);
  if (batch) {
    propose_packing(advice, stage, *batch);
    propose_fewer_objects(advice, stage, *batch);
    propose_sharing_by_name(advice, stage, *batch);
  }
  propose_no_workers(advice, stage);
  offer_bytes(advice);
  const std::string bytes = batch ? megabytes(*batch) : "every byte of a batch";
  advice.add(propose("narrower", stage.name,
                     "send fewer bytes: uint8 instead of float32, and only what the step uses",
                     bytes + (batch ? " per batch are" : " is") +
                         " copied into shared memory that has to be allocated"));
}

void advise_on_pinning(Advice& advice, const StageReport& stage) {
  const auto& batch = advice.chain().batch_contents;
  offer_unused(advice, stage);
  if (batch) propose_packing(advice, stage, *batch);
  offer_bytes(advice);
  const std::string pointer = "/stages/" + std::to_string(stage.index - 1) + "/pinned";
  advice.add(propose("no_pinning", stage.name, "leave the batches in pageable memory",
                     "pinning copies each batch once more, in a thread that competes with the "
                     "training thread for the interpreter",
                     {{pointer, "false"}}, free_stage(stage)));
}

}  // namespace cachebisect
