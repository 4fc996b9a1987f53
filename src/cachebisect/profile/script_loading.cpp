#include "cachebisect/profile/script_loading.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/profile/action_group.hpp"
#include "cachebisect/remote/fields.hpp"

namespace cachebisect::profile {
namespace {

constexpr std::uint32_t kDataset = 0;  ///< among loading_stages()
constexpr std::uint32_t kCollate = 1;

std::vector<FetchedBatch> fetched_batches(const Fields& worker) {
  const std::vector<double> began = worker.amounts_or_empty("began");
  const std::vector<double> collating = worker.amounts_or_empty("collating");
  const std::vector<double> ended = worker.amounts_or_empty("ended");
  std::vector<FetchedBatch> batches;
  for (std::size_t i = 0; i < began.size(); ++i) {
    const bool complete = i < collating.size() && i < ended.size();
    if (!complete || began[i] > collating[i] || collating[i] > ended[i]) {
      worker.refuse("ended", "for each batch a time after those of began and collating");
    }
    batches.push_back({began[i], collating[i], ended[i]});
  }
  return batches;
}

ScriptLoading loading_of(const Fields& fields) {
  ScriptLoading loading;
  loading.begin = static_cast<std::int64_t>(fields.count("begin_ns"));
  loading.seconds = fields.amount("seconds");
  for (const Fields& worker : fields.objects_or_empty("workers")) {
    loading.workers.push_back(fetched_batches(worker));
  }
  return loading;
}

}  // namespace

ScriptLoading read_script_loading(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    return loading_of(Fields(json, "the batches of the script's loader"));
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::data,
                std::string("the batches of the script's loader: ") + error.what());
  } catch (const Error& error) {
    throw Error(ErrorKind::data, error.what());
  }
}

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
