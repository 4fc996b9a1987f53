#include "cachebisect/observe/script_loading.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/fields.hpp"

namespace cachebisect {
namespace {

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

}  // namespace cachebisect
