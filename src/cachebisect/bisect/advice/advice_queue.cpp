#include "cachebisect/bisect/advice/advice_queue.hpp"

#include <algorithm>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {

std::optional<Proposal> longer_queue(const ChainDescription& chain, const Forecast& forecast) {
  const JobSetting* const setting = chain.settings.at(settings::kPrefetch.key);
  const auto& live = forecast.live().value;
  const bool can_set = chain.settings.of_file || setting != nullptr;
  if (!can_set || chain.workers == 0 || !live) return std::nullopt;
  const double steady = forecast.fully_queued();
  if (steady < (1 + kOtherJob) * *live) return std::nullopt;
  const bool per_worker = setting != nullptr && setting->per_worker;
  const int now = chain.ring_prefetch / (per_worker ? chain.workers : 1);
  const std::string longer = std::to_string(4 * std::max(1, now));
  return propose("longer_queue", "",
                 "keep " + longer + " batches ahead" + (per_worker ? " per worker" : "") +
                     " instead of " + std::to_string(now),
                 "some samples take far longer than others; were all alike, the same work would "
                 "give " +
                     rate(steady) + " samples/s",
                 {{"/" + std::string(settings::kPrefetch.key), longer}});
}

}  // namespace cachebisect
