// Writing the data set once, at a stage (`cachebisect prepare`), instead of making it in every
// epoch.
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/shell_word.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/cache_place.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/bisect/costs/cache_changes.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// What a sample from shards that are in memory costs, by `prepare --dry-run` and a read of as many
/// bytes: 1 us for 800 bytes, 130 us for 550 kB.
constexpr double kReadSeconds = 1e-6;

}  // namespace

std::string prepare_command(const Advice& advice, const StageReport& stage) {
  const std::string& file = advice.chain().file;
  return "cachebisect prepare --pipeline " + shell_word(file.empty() ? "FILE" : file) +
         " --after " + shell_word(stage.name) + " --out FOLDER";
}

void offer_prepared(Advice& advice, const StageReport& stage) {
  if (!stage.cacheable || advice.described(stage).cache) return;
  const double bytes = stage.output_bytes.value_or(0);
  CostChanges changes =
      cached_after(advice.chain(), static_cast<std::size_t>(stage.index), 1, bytes);
  std::string reason = "its output is the same in every epoch";
  std::vector<Edit> edits;
  if (advice.of_code()) {
    edits = kept_in_code(advice, kPreparedSetting, static_cast<std::size_t>(stage.index));
  } else {
    changes.added_seconds = kReadSeconds + bytes / kMemorySpeed;
    if (bytes > 0) {
      reason += "; all samples take " +
                format_bytes(bytes * static_cast<double>(advice.chain().samples)) + " of the disk";
    }
  }
  Proposal proposal = propose("prepare", stage.name,
                              "write what " + stage.name + " makes once, and train from that",
                              reason, std::move(edits), std::move(changes));
  if (!advice.of_code()) proposal.remedy.lines = {prepare_command(advice, stage)};
  advice.add(std::move(proposal));
}

}  // namespace cachebisect
