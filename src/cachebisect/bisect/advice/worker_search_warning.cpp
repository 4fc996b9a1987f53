#include "cachebisect/bisect/advice/worker_search_warning.hpp"

#include <string>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

/// "1 worker: 812 samples/s, 2 workers: 830 samples/s".
std::string trials_text(const std::vector<WorkerTrial>& trials) {
  std::string text;
  for (const WorkerTrial& trial : trials) {
    text += (text.empty() ? "" : ", ") + std::to_string(trial.workers) +
            (trial.workers == 1 ? " worker: " : " workers: ") + rate(trial.samples_per_second) +
            " samples/s";
  }
  return text;
}

/// Why another count may be better.
std::string doubt(const WorkerSearch& search) {
  if (search.limited_by == "memory") {
    return "; batch slots of more workers would take over a tenth of the free memory";
  }
  if (search.limited_by == "time") return "; no time was left to try more";
  if (search.limited_by == "workers") return "; more are not tried";
  return "; these short trials do not tell for sure which is best";
}

}  // namespace

std::optional<Warning> worker_search_warning(const ChainDescription& chain) {
  const auto& search = chain.worker_search;
  if (!search || (search->certain && search->limited_by.empty())) return std::nullopt;
  return Warning{"auto_workers",
                 "workers: auto chose " + std::to_string(chain.workers) + " (" +
                     trials_text(search->trials) + ")" + doubt(*search),
                 "--what-if workers=" + std::to_string(2 * chain.workers) +
                     " --verify compares them at length"};
}

}  // namespace cachebisect
