#include "cachebisect/report/words/cost_of_loss.hpp"

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {

CostOfLoss cost_of_loss(const Report& report) {
  const VerdictKind kind = report.verdict.kind;
  if (!report.cost || kind == VerdictKind::anomaly) return {};
  const Estimate& lost = report.cost->lost_per_hour;
  if (!lost.value || !lost.interval || lost.interval->high <= 0) return {};
  const bool names_loss = kind == VerdictKind::drop || kind == VerdictKind::spread;
  const bool certain = names_loss && lost.interval->low > 0;
  const std::string amount =
      certain ? "$" + format_amount(*lost.value) : "at most $" + format_amount(lost.interval->high);
  return {amount + " of every $" + format_amount(report.cost->per_hour), certain};
}

}  // namespace cachebisect
