#include "cachebisect/bisect/costs/predicted_fix_first.hpp"

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Costs that are independent from sample to sample vary by a few percent between blocks; rare
/// stalls, by their own size.
constexpr double kSteady = 0.3;

bool is_steady(const ChainDescription& chain, const Forecast& forecast, const std::string& name) {
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    if (chain.stages[s].name == name) return forecast.variation(s) <= kSteady;
  }
  return false;
}

}  // namespace

std::optional<std::string> predicted_fix_first(const ChainDescription& chain,
                                               const std::optional<Forecast>& forecast,
                                               const std::string& named, double lead) {
  if (!forecast || forecast->misfit().live > kOtherJob) return std::nullopt;
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

std::string fix_first_by_model(const ChainDescription& chain,
                               const std::optional<Forecast>& forecast, const std::string& named) {
  const auto first = predicted_fix_first(chain, forecast, named, kReportLeadAboveRatio);
  if (!first) return named;
  const bool steady = is_steady(chain, *forecast, *first) && is_steady(chain, *forecast, named);
  return steady ? *first : named;
}

}  // namespace cachebisect
