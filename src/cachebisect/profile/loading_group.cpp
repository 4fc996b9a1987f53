#include "cachebisect/profile/loading_group.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/profile/action_group.hpp"

namespace cachebisect::profile {
namespace {

constexpr std::uint32_t kDataset = 0;  ///< among loading_stages()
constexpr std::uint32_t kCollate = 1;

}  // namespace

std::vector<StageDescription> loading_stages() {
  return {{.name = "dataset", .type = "torch.utils.data.Dataset", .kind = StageKind::batch},
          {.name = "collate_fn", .type = "collate_fn", .kind = StageKind::collate}};
}

ActionGroup loading_group(const ScriptLoading& loading, int workers, double load_seconds) {
  Action dataset{loading_stages()[kDataset].name, 0, 0};
  Action collate{loading_stages()[kCollate].name, 0, 0};
  for (const auto& worker : loading.workers) {
    for (const FetchedBatch& batch : worker) {
      ++dataset.calls;
      ++collate.calls;
      dataset.seconds += batch.collating - batch.began;
      collate.seconds += batch.ended - batch.collating;
    }
  }
  ActionGroup group = group_of_loading(workers, workers > 0 ? loading.seconds : load_seconds);
  group.actions = {std::move(dataset), std::move(collate)};
  add_rest(group, workers > 0 ? "send, wait for a request, other" : "other");
  return group;
}

void add_loading(Cycle& cycle, const ScriptLoading& loading) {
  const double begin = monotonic_time(cycle, loading.begin);
  cycle.end = std::max(cycle.end, begin + loading.seconds);
  for (const auto& worker : loading.workers) {
    std::vector<LoadSpan>& spans = cycle.workers.emplace_back();
    for (std::size_t i = 0; i < worker.size(); ++i) {
      const FetchedBatch& batch = worker[i];
      spans.push_back({begin + batch.began, begin + batch.collating, i, kDataset});
      spans.push_back({begin + batch.collating, begin + batch.ended, i, kCollate});
    }
  }
}

}  // namespace cachebisect::profile
