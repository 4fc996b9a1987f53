// Parts of a batch that no step reads: they are put together, sent and copied for nothing.
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/costs/unused_changes.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

/// The edit of a job in code whose adapter can leave them out by itself; else there is but the line
/// of code.
std::vector<Edit> left_out(const Advice& advice) {
  const JobSettings& settings = advice.chain().settings;
  if (settings.of_file || settings.find(settings::kUnused) == nullptr) return {};
  return {{"/" + std::string(settings::kUnused), "\"drop\""}};
}

}  // namespace

void offer_unused(Advice& advice, const StageReport& stage) {
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
