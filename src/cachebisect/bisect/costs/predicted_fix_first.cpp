#include "cachebisect/bisect/costs/predicted_fix_first.hpp"

namespace cachebisect {
namespace {

/// The cost model is believed if it misses live by no more than this.
constexpr double kTrusted = 0.10;

}  // namespace

std::optional<std::string> predicted_fix_first(const ChainDescription& chain,
                                               const std::optional<Forecast>& forecast,
                                               const std::string& named, double lead) {
  if (!forecast || forecast->misfit().live > kTrusted) return std::nullopt;
  std::optional<std::size_t> best;
  double best_rate = 0;
  double named_rate = 0;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    if (!runs_on_host(chain.stages[s].category)) continue;
    const double rate = predict(forecast->costs(), {.stages = {{.stage = s, .factor = 0}}});
    if (!best || rate > best_rate) {
      best = s;
      best_rate = rate;
    }
    if (chain.stages[s].name == named) named_rate = rate;
  }
  // Without a figure for the named stage nothing is known against it.
  if (!best || named_rate <= 0 || best_rate <= lead * named_rate) return std::nullopt;
  return chain.stages[*best].name;
}

}  // namespace cachebisect
