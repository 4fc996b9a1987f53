// Samples of different sizes end to end in the copy, padded on the device.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/copied_samples.hpp"
#include "cachebisect/bisect/advice/field_shapes.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

/// The dimensions of a sample as the batch has them, -1 where samples differ; empty if they do not.
std::vector<std::int64_t> ragged_dims(std::string_view text, bool planar) {
  std::vector<std::int64_t> dims;
  while (!text.empty()) dims.push_back(take_side(text).value_or(-1));
  if (std::ranges::find(dims, -1) == dims.end()) return {};
  if (planar && dims.size() == 3) std::rotate(dims.begin(), dims.end() - 1, dims.end());
  return dims;
}

/// For each of the fields that are padded, the stage that pads it on the device.
std::vector<Edit> ragged_edits(const Advice& advice, const CopiedSamples& samples,
                               const StageReport& copy) {
  std::vector<Edit> edits;
  for (const FieldText& field : field_texts(advice.chain().stages[samples.stages - 1].output)) {
    const std::vector<std::int64_t> dims = ragged_dims(field.dims, samples.planar);
    if (dims.empty()) continue;
    const Json pad{
        {"use", "device.pad"}, {"shape", dims}, {"fields", Json::array({std::string(field.name)})}};
    edits.push_back({"/stages/" + std::to_string(copy.index), pad.dump(), EditKind::insert});
  }
  if (!edits.empty()) {
    edits.push_back({"/stages/" + std::to_string(samples.stages) + "/use", R"("collate.ragged")"});
  }
  return edits;
}

}  // namespace

void offer_ragged(Advice& advice, const StageReport& copy) {
  const auto samples = copied_samples(advice, copy);
  if (!samples) return;
  const StageReport& collate = advice.stages()[samples->stages];
  const double padding = collate.padding_share.value_or(0);
  if (collate.type != "collate.pad" || padding < kNegligible) return;
  std::vector<Edit> edits = ragged_edits(advice, *samples, copy);
  if (edits.empty()) return;
  Proposal proposal = propose("ragged", copy.name, "copy samples end to end, and pad on the device",
                              percent(padding) + " of what is copied is padding", std::move(edits),
                              scaled_copy(advice, 1 - padding));
  // Workers write no padding either.
  proposal.other = scaled_copy(advice, 1 - padding);
  proposal.other->stages.push_back(
      {.stage = static_cast<std::size_t>(collate.index) - 1, .factor = 1 - padding});
  advice.add(std::move(proposal));
}

}  // namespace cachebisect
