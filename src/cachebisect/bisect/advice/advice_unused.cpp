// Parts of a batch that no step reads: they are put together, sent and copied for nothing.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/field_shapes.hpp"
#include "cachebisect/bisect/costs/sample_stages.hpp"
#include "cachebisect/bisect/costs/unused_changes.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

/// The edit of a job in code whose adapter can leave them out by itself; else there is but the line
/// of code.
std::vector<Edit> left_out(const Advice& advice) {
  const JobSettings& settings = advice.chain().settings;
  if (settings.find(settings::kUnused) == nullptr) return {};
  return {{"/" + std::string(settings::kUnused), "\"drop\""}};
}

/// Left out right before collate, of pipeline files.
void offer_unused_of_file(Advice& advice, const StageReport& stage) {
  const std::size_t samples = count_sample_stages(advice.chain());
  if (samples == 0 || !moves_bytes(stage.category)) return;
  const auto& all = advice.stages()[samples - 1].output_bytes;
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  double bytes = 0;
  const std::vector<FieldText> texts = field_texts(advice.chain().stages[samples - 1].output);
  for (const FieldValues& field : advice.field_values()) {
    const auto text = std::ranges::find(texts, field.name, &FieldText::name);
    if (!field.unused || text == texts.end()) continue;
    names.push_back(field.name);
    bytes += bytes_of(*text).value_or(0);
  }
  if (!all || names.empty() || bytes < kNegligible * *all || bytes >= *all) return;
  const nlohmann::ordered_json drop{{"use", "augment.drop"}, {"fields", names}};
  Proposal proposal = propose(
      "unused", stage.name, "leave out of the batch what the training step never reads",
      percent(bytes / *all) + " of the bytes of a sample are put together and copied for nothing",
      {{"/stages/" + std::to_string(samples), drop.dump(), EditKind::insert}});
  OrderChanges changes = without_bytes(advice.chain(), bytes / *all);
  proposal.changes = std::move(changes.likely);
  proposal.other = std::move(changes.least);
  advice.add(std::move(proposal));
}

}  // namespace

void offer_unused(Advice& advice, const StageReport& stage) {
  if (!advice.of_code()) return offer_unused_of_file(advice, stage);
  const auto share = unused_share(advice.chain());
  if (!share) return;
  const double bytes = advice.chain().batch_contents->bytes;
  Proposal proposal =
      propose("unused", stage.name, "leave out of the batch what the training step never reads",
              percent(*share) + " of its " + rate(bytes / 1e6) +
                  " MB: made, put together and moved for nothing",
              left_out(advice));
  if (moves_bytes(stage.category)) {
    OrderChanges changes = *without_unused(advice.chain());
    proposal.changes = std::move(changes.likely);
    proposal.other = std::move(changes.least);
  }
  advice.add(std::move(proposal));
}

}  // namespace cachebisect
