// What to try at collate, the copy and device stages.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/remedy_edits.hpp"

namespace cachebisect {
namespace {

constexpr double kBytesOfFloat = 0.25;  ///< a byte, of those of a float32

std::string bytes_per_batch(const ChainDescription& chain) {
  const auto& bytes = chain.stages.back().output_bytes;
  if (!bytes) return "its size is not known";
  return rate(*bytes * static_cast<double>(chain.batch_size) / 1e6) + " MB per batch";
}

/// Bytes of a sample before a stage over those after it, at most 1; 1 if they are not known.
double bytes_saved_by_moving(const Advice& advice, const StageReport& stage) {
  if (stage.index < 2) return 1;
  const auto& before = advice.stages()[static_cast<std::size_t>(stage.index) - 2].output_bytes;
  const auto& after = stage.output_bytes;
  return before && after && *after > 0 ? std::min(1.0, *before / *after) : 1;
}

/// The cost of the stage on the device is taken to be nothing.
CostChanges moved_to_device(const Advice& advice, const StageReport& stage) {
  CostChanges changes = free_stage(stage);
  const CostChanges copy = scaled_copy(advice, bytes_saved_by_moving(advice, stage));
  changes.stages.insert(changes.stages.end(), copy.stages.begin(), copy.stages.end());
  return changes;
}

void propose_buckets(Advice& advice, const StageReport& stage, const std::string& where) {
  std::optional<CostChanges> changes;
  if (stage.padding_share) changes = scaled_copy(advice, 1 - *stage.padding_share);
  advice.add(propose("bucket", stage.name, "group samples of similar size into a batch",
                     percent(stage.padding_share.value_or(0)) + where, {}, std::move(changes)));
}

void advise_on_collate(Advice& advice, const StageReport& stage) {
  if (stage.type == "collate.pad") propose_buckets(advice, stage, " of every batch is padding");
  advice.add_workers(stage.name, "batches are put together by the workers");
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
  for (const StageReport& before : advice.stages()) {
    if (before.type == "augment.one_hot") offer_device(advice, before);
  }
  offer_bytes(advice);
  for (const StageReport& before : advice.stages()) {
    if (before.type == "collate.pad") {
      propose_buckets(advice, before, " of what is copied is padding");
    }
  }
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

/// The same for stages in code.
void offer_device_in_code(Advice& advice, const StageReport& stage) {
  if (advice.chain().device_kind == DeviceKind::cpu || !advice.described(stage).elementwise) return;
  advice.add(propose("to_device", stage.name,
                     "do " + stage.name + " on the device, on the whole batch",
                     "element-wise work is next to free there", {}, free_stage(stage)));
}

void offer_bytes_in_code(Advice& advice) {
  for (const StageReport& stage : advice.stages()) {
    if (!advice.described(stage).makes_floats) continue;
    advice.add(propose("ship_bytes", stage.name, "send uint8, and convert on the device",
                       "float32 is four times the bytes of uint8, and the copy pays by the byte",
                       {}, scaled_copy(advice, kBytesOfFloat)));
  }
}

}  // namespace

void offer_device(Advice& advice, const StageReport& stage) {
  if (advice.of_code()) return offer_device_in_code(advice, stage);
  static constexpr std::array kMovable{"to_float", "normalize", "one_hot"};
  for (const std::string what : kMovable) {
    if (stage.type != "augment." + what) continue;
    advice.add(
        propose("to_device", stage.name, "do it on the device: device." + what + " after the copy",
                "element-wise work is next to free there, and raw bytes are copied instead of "
                "floats",
                move_to_device(advice.chain(), {static_cast<std::size_t>(stage.index) - 1}),
                moved_to_device(advice, stage)));
  }
}

void offer_bytes(Advice& advice) {
  if (advice.of_code()) return offer_bytes_in_code(advice);
  std::vector<std::size_t> moved;
  for (const StageReport& stage : advice.stages()) {
    const bool makes_floats = stage.type == "augment.normalize" || stage.type == "augment.to_float";
    if (makes_floats) moved.push_back(static_cast<std::size_t>(stage.index) - 1);
  }
  if (moved.empty()) return;
  const std::string type = advice.stages()[moved.back()].type;
  const StageReport& first = advice.stages()[moved.front()];
  advice.add(propose("ship_bytes", first.name,
                     "copy uint8 and convert on the device: device" + type.substr(type.find('.')),
                     "float32 is four times the bytes of uint8, and the copy pays by the byte",
                     move_to_device(advice.chain(), moved), moved_to_device(advice, first)));
}

void advise_on_batch_stage(Advice& advice, const StageReport& stage) {
  if (stage.category == Category::copy) return advise_on_copy(advice, stage);
  if (stage.category == Category::device) return advise_on_device_stage(advice, stage);
  advise_on_collate(advice, stage);
}

}  // namespace cachebisect
