// Parts of a batch that no step reads: they are put together, sent and copied for nothing.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/costs/order_changes.hpp"

namespace cachebisect {
namespace {

/// True for a stage that costs by the byte of a batch.
bool moves_bytes(Category category) {
  return category == Category::collate || category == Category::transfer ||
         category == Category::pin || category == Category::copy;
}

std::vector<std::size_t> stages_that_move_bytes(const Advice& advice) {
  std::vector<std::size_t> places;
  for (const StageReport& stage : advice.stages()) {
    if (moves_bytes(stage.category)) places.push_back(static_cast<std::size_t>(stage.index) - 1);
  }
  return places;
}

}  // namespace

void offer_unused(Advice& advice, const StageReport& stage) {
  const auto& batch = advice.chain().batch_contents;
  if (!batch || !(batch->unused_bytes > 0) || !(batch->bytes > batch->unused_bytes)) return;
  const double share = batch->unused_bytes / batch->bytes;
  Proposal proposal =
      propose("unused", stage.name, "leave out of the batch what the training step never reads",
              percent(share) + " of its " + rate(batch->bytes / 1e6) +
                  " MB: made, put together and moved for nothing");
  if (moves_bytes(stage.category)) {
    OrderChanges changes = spared_by_order(stages_that_move_bytes(advice), 1 - share);
    proposal.changes = std::move(changes.likely);
    proposal.other = std::move(changes.least);
  }
  advice.add(std::move(proposal));
}

}  // namespace cachebisect
