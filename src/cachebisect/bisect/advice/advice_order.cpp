// A crop behind a stage that costs: run before it, the stage works on fewer pixels.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/crop_move.hpp"
#include "cachebisect/bisect/costs/order_changes.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

std::size_t place_of(const StageReport& stage) { return static_cast<std::size_t>(stage.index) - 1; }

std::string earlier_text(const Advice& advice, std::size_t crop, std::size_t first) {
  return "run " + advice.stages()[crop].name + " before " + advice.stages()[first].name;
}

std::string pixels_text(std::optional<double> left) {
  return left ? percent(*left) + " of the pixels" : "fewer pixels";
}

Proposal with_gain(Proposal proposal, const std::vector<std::size_t>& spared,
                   std::optional<double> left, double added_seconds) {
  if (!left) return proposal;
  OrderChanges changes = spared_by_order(spared, *left);
  changes.likely.added_seconds = changes.least.added_seconds = added_seconds;
  proposal.changes = std::move(changes.likely);
  proposal.other = std::move(changes.least);
  return proposal;
}

void offer_order_in_file(Advice& advice, const StageReport& stage) {
  const auto move = find_crop(advice.chain_with_bytes(), place_of(stage));
  if (!move || !move->why.empty()) return;
  const double bytes = advice.stages()[move->crop].output_bytes.value_or(0);
  Proposal proposal = propose("order", stage.name, earlier_text(advice, move->crop, move->first),
                              "both orders give the same bits, and " + stage.name +
                                  " then works on " + pixels_text(move->left),
                              edits_of(advice.chain(), *move));
  advice.add(with_gain(std::move(proposal), move->spared, move->left,
                       move->adds_copy ? bytes / kMemorySpeed : 0));
}

/// Draws of jobs in code come from one stream.
std::string samples_text(const Advice& advice, const StageMove& move) {
  const auto& stages = advice.chain().stages;
  std::size_t random = 0;
  for (std::size_t s = move.before; s <= move.stage; ++s) random += stages[s].random ? 1 : 0;
  const std::string checked = " (--verify compares some)";
  return (random > 1 ? "samples are distributed as they are, with other draws"
                     : "samples stay the same") +
         checked;
}

/// Proposes it where the adapter names a crop that may run before the stage.
void offer_order_in_code(Advice& advice, const StageReport& stage) {
  const ChainDescription chain = advice.chain_with_bytes();
  const JobSetting* const setting = chain.settings.at(settings::kOrder);
  if (setting == nullptr) return;
  for (const std::string& word : setting->words) {
    const auto move = stage_move(chain, word);
    const auto value = value_json(*setting, word);
    if (!move || !value || place_of(stage) < move->before || place_of(stage) >= move->stage) {
      continue;
    }
    const auto left = bytes_left_by(chain, move->stage);
    if (left && *left >= 1) continue;
    Proposal proposal = propose(
        "order", stage.name, earlier_text(advice, move->stage, move->before),
        samples_text(advice, *move) + ", and " + stage.name + " then works on " + pixels_text(left),
        {{"/" + std::string(settings::kOrder), *value}});
    advice.add(with_gain(std::move(proposal), passed_by(*move), left, 0));
  }
}

/// True if no sample stage behind it leaves less of a sample than it gets.
bool nothing_gets_smaller(const ChainDescription& chain, std::size_t stage) {
  for (std::size_t s = stage + 1; s < chain.stages.size(); ++s) {
    if (chain.stages[s].kind != StageKind::sample) break;
    const auto left = bytes_left_by(chain, s);
    if (!left || *left < 1) return false;
  }
  return true;
}

}  // namespace

void offer_order(Advice& advice, const StageReport& stage) {
  advice.of_code() ? offer_order_in_code(advice, stage) : offer_order_in_file(advice, stage);
}

void offer_other_order(Advice& advice, const StageReport& stage) {
  const ChainDescription chain = advice.chain_with_bytes();
  if (nothing_gets_smaller(chain, place_of(stage))) return;
  const auto move = advice.of_code() ? std::nullopt : find_crop(chain, place_of(stage));
  if (move && !move->why.empty()) {
    advice.add(propose("order", stage.name,
                       earlier_text(advice, move->crop, place_of(stage)) + ", if it may change "
                                                                           "samples",
                       "it works on " + pixels_text(move->left) + " then; " + move->why));
    return;
  }
  advice.add(propose("order", stage.name,
                     "put " + stage.name + " after the stages that make samples smaller",
                     "work on fewer pixels: crop, then transform"));
}

}  // namespace cachebisect
