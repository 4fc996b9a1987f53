// Batches of samples of similar size, where batches are padded to their largest sample.
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/costs/unused_changes.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

/// What pays by the byte of a batch, at this share of the bytes: from collate on.
CostChanges scaled_batches(const Advice& advice, double share) {
  CostChanges changes;
  for (const StageReport& stage : advice.stages()) {
    if (!moves_bytes(stage.category) && stage.category != Category::device) continue;
    changes.stages.push_back({.stage = static_cast<std::size_t>(stage.index) - 1, .factor = share});
  }
  return changes;
}

bool is_grouped(const ChainDescription& chain) {
  const auto spec = nlohmann::json::parse(chain.effective_json, nullptr, false);
  return spec.is_object() && spec.value(settings::kGroupBySize.key, 0) > 0;
}

}  // namespace

void offer_buckets(Advice& advice, const StageReport& stage, const std::string& where) {
  if (stage.type != "collate.pad" || is_grouped(advice.chain())) return;
  const double unpadded = 1 - stage.padding_share.value_or(0);
  Proposal proposal = propose("bucket", stage.name, "group samples of similar size into a batch",
                              percent(stage.padding_share.value_or(0)) + where);
  if (stage.padding_share) proposal.changes = scaled_batches(advice, unpadded);
  const auto& left = advice.grouped_bytes_share();
  if (left && *left < 1 && !advice.of_code()) {
    const std::string batches = std::to_string(settings::kProposedGroup);
    proposal.remedy.text += ": sort those of " + batches + " batches by their bytes in storage";
    proposal.remedy.reason +=
        "; so grouped, the batches of cached samples have " + percent(*left) + " of their bytes";
    proposal.remedy.edits = {{"/" + std::string(settings::kGroupBySize.key), batches}};
    proposal.changes = scaled_batches(advice, *left);
    if (stage.padding_share) proposal.other = scaled_batches(advice, unpadded);
  }
  advice.add(std::move(proposal));
}

}  // namespace cachebisect
