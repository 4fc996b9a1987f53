// What to try in the worker processes themselves, where the adapter has found that it costs.
#include <string>

#include "cachebisect/bisect/advice/advice.hpp"

namespace cachebisect {
namespace {

/// Proposes `value` where the adapter has such a setting, and gives the line for it: it measures
/// whether the setting matters.
void propose_found(Advice& advice, const StageReport& stage, const std::string& setting,
                   const std::string& value, const std::string& text, const std::string& reason) {
  const JobSettings& settings = advice.chain().settings;
  if (settings.find(setting) == nullptr || settings.advice_or(setting, "").empty()) return;
  advice.add(propose(setting, stage.name, text, reason, {{"/" + setting, value}}));
}

}  // namespace

void offer_worker_settings(Advice& advice, const StageReport& stage) {
  if (!advice.of_code() || advice.chain().workers == 0) return;
  propose_found(advice, stage, "malloc", "\"keep\"",
                "let each worker keep the memory that it frees",
                "now the system takes it back, and gives pages of zeros for the next batch");
  propose_found(advice, stage, "dask_threads", "1", "let dask compute in one thread of each worker",
                "now each worker has a pool of threads for it, and together they outnumber the "
                "cores");
}

}  // namespace cachebisect
