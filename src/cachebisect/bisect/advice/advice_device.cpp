// Stages of samples that the device can run, on whole batches behind the copy.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/remedy_edits.hpp"
#include "cachebisect/bisect/costs/device_changes.hpp"
#include "cachebisect/bisect/costs/sample_stages.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

/// Bytes of a sample before the stages over those after them; 1 if they are not known.
double bytes_by_moving(const Advice& advice, std::size_t first, std::size_t last) {
  if (first == 0) return 1;
  const auto& before = advice.stages()[first - 1].output_bytes;
  const auto& after = advice.stages()[last].output_bytes;
  return before && after && *after > 0 ? *before / *after : 1;
}

/// The cost of the stages on the device is taken to be nothing.
CostChanges moved_to_device(const Advice& advice, const std::vector<std::size_t>& moved) {
  CostChanges changes;
  for (const std::size_t stage : moved) changes.stages.push_back({.stage = stage, .factor = 0});
  const CostChanges copy =
      scaled_copy(advice, bytes_by_moving(advice, moved.front(), moved.back()));
  changes.stages.insert(changes.stages.end(), copy.stages.begin(), copy.stages.end());
  return changes;
}

/// "do them on the device: device.random_crop, device.normalize after the copy".
std::string moving_text(const Advice& advice, const std::vector<std::size_t>& moved) {
  std::string names;
  for (const std::size_t stage : moved) {
    const std::string& type = advice.stages()[stage].type;
    names += (names.empty() ? "device" : ", device") + type.substr(type.find('.'));
  }
  return (moved.size() == 1 ? "do it on the device: " : "do them on the device: ") + names +
         " after the copy";
}

/// The setting of a job in code that runs a stage on the device; empty if it cannot run there.
std::vector<Edit> set_on_device(const Advice& advice, const StageReport& stage) {
  const JobSetting* const setting = advice.chain().settings.at(settings::kOnDevice);
  auto value = setting == nullptr ? std::nullopt : value_json(*setting, first_word(stage.name));
  if (!value) return {};
  return {{"/" + std::string(settings::kOnDevice), *std::move(value)}};
}

/// Where the job can run the stage on the device, what follows it runs there too.
void add_in_code(Advice& advice, const StageReport& stage, Proposal proposal) {
  proposal.remedy.edits = set_on_device(advice, stage);
  if (!proposal.remedy.edits.empty()) {
    auto changes = on_device_from(advice.chain(), static_cast<std::size_t>(stage.index) - 1);
    proposal.changes = std::move(changes.likely);
    proposal.other = std::move(changes.least);
  }
  advice.add(std::move(proposal));
}

void send_bytes_of(Advice& advice, const StageReport& stage) {
  add_in_code(advice, stage,
              propose("ship_bytes", stage.name, "send uint8, and convert on the device",
                      "float32 is four times the bytes of uint8, and whatever carries a batch "
                      "pays by the byte",
                      {}, scaled_copy(advice, kBytesOfFloat)));
}

/// The same for stages in code.
void offer_device_in_code(Advice& advice, const StageReport& stage) {
  if (advice.chain().device_kind == DeviceKind::cpu) return;
  if (advice.described(stage).makes_floats) return send_bytes_of(advice, stage);
  if (!advice.described(stage).elementwise) return;
  add_in_code(
      advice, stage,
      propose("to_device", stage.name, "do " + stage.name + " on the device, on the whole batch",
              "element-wise work is next to free there", {}, free_stage(stage)));
}

void offer_bytes_in_code(Advice& advice) {
  if (advice.chain().device_kind == DeviceKind::cpu) return;
  for (const StageReport& stage : advice.stages()) {
    if (advice.described(stage).makes_floats) send_bytes_of(advice, stage);
  }
}

}  // namespace

void offer_device(Advice& advice, const StageReport& stage) {
  if (advice.of_code()) return offer_device_in_code(advice, stage);
  const ChainDescription& chain = advice.chain();
  const auto moved = stages_to_move(chain, static_cast<std::size_t>(stage.index) - 1);
  if (moved.empty() || chain.device_kind == DeviceKind::cpu) return;
  const bool fewer = bytes_by_moving(advice, moved.front(), moved.back()) < 1;
  advice.add(propose("to_device", stage.name, moving_text(advice, moved),
                     "work on each pixel is next to free there" +
                         std::string(fewer ? ", and raw bytes are copied instead of floats" : ""),
                     move_to_device(chain, moved), moved_to_device(advice, moved)));
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
  advice.add(propose("ship_bytes", advice.stages()[moved.front()].name,
                     "copy uint8 and convert on the device: device" + type.substr(type.find('.')),
                     "float32 is four times the bytes of uint8, and the copy pays by the byte",
                     move_to_device(advice.chain(), moved), moved_to_device(advice, moved)));
}

}  // namespace cachebisect
