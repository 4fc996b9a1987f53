// What to try where reading asks storage for too much, or for one thing after the other.
#include <algorithm>
#include <string>
#include <utility>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/costs/worker_changes.hpp"
#include "cachebisect/bisect/report/storage_use.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

/// More rarely gain: the training thread, or computing, limits by then.
constexpr std::int64_t kThreads = 8;

std::string reason_of_waiting(const Advice& advice, const StageReport& stage) {
  const auto& counts = advice.storage();
  if (!counts || !waits_for_single_requests(*counts)) {
    return stage.name + " waits, and each worker reads one sample after the other";
  }
  return "a request takes " + short_duration(seconds_per_request(*counts)) +
         ", and each worker has one in flight";
}

}  // namespace

void offer_read_threads(Advice& advice, const StageReport& stage) {
  const JobSetting* const setting = advice.chain().settings.at(settings::kReadThreads);
  const std::int64_t threads = std::min(kThreads, advice.chain().batch_size);
  if (advice.chain().settings.of_file || setting == nullptr || threads < 2) return;
  ThreadChanges changes = sample_threads(advice.chain(), threads);
  Proposal proposal =
      propose("in_flight", stage.name, "read several samples at once in each worker",
              reason_of_waiting(advice, stage),
              {{"/" + std::string(settings::kReadThreads), std::to_string(threads)}},
              std::move(changes.likely));
  proposal.other = std::move(changes.most);
  advice.add(std::move(proposal));
}

void advise_on_storage(Advice& advice, const StageReport& stage) {
  if (!advice.storage()) return;
  const StorageCounts& counts = *advice.storage();
  if (waits_for_single_requests(counts)) offer_read_threads(advice, stage);
  if (makes_clients(counts) || connects_each_time(counts)) {
    advice.add(propose("one_client", stage.name,
                       "make one client per worker, and keep it and its connections",
                       makes_clients(counts) ? "each sample makes a client of its own"
                                             : "each request makes a connection of its own"));
  }
  if (const auto unused = unused_bytes(counts, advice.stages())) {
    advice.add(propose("fewer_bytes", stage.name,
                       "read less for each sample: smaller chunks, parts of files, or samples "
                       "that lie together one after the other",
                       format_bytes(unused->read) + " are read for each " +
                           format_bytes(unused->returned) + " that " + stage.name + " returns"));
  }
  if (opens_again(counts)) {
    advice.add(propose("open_once", stage.name, "open each file once per worker, and keep it open",
                       "most files and URLs had been opened by the same worker before"));
  }
}

}  // namespace cachebisect
