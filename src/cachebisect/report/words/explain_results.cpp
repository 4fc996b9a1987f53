#include <string>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/report/words/explained_numbers.hpp"
#include "cachebisect/report/words/text_consequences.hpp"

namespace cachebisect {
namespace {

constexpr const char* kTo = " to ";
using Numbers = std::vector<ExplainedNumber>;

/// " In time: 0.40 ms per sample."; empty if it is not known.
std::string per_sample(const std::vector<BoundaryReport>& boundaries, std::size_t boundary) {
  if (boundary >= boundaries.size() || !boundaries[boundary].seconds_per_sample) return {};
  return " In time: " + format_seconds(*boundaries[boundary].seconds_per_sample) + " per sample.";
}

std::string certain_kind(const Report& report) {
  const std::string bar = format_percent(report.settings.min_drop);
  switch (report.verdict.kind) {
    case VerdictKind::drop:
      return "The whole interval of one stage's drop lies above " + bar +
             ", the smallest drop worth naming (--min-drop).";
    case VerdictKind::spread:
      return "The loss is certain, but no single stage's drop is certainly above " + bar +
             " (--min-drop): several small ones add up.";
    case VerdictKind::flat:
      return "The whole input pipeline certainly costs less than " + bar +
             " (--min-drop): a faster input would not make this job faster.";
    case VerdictKind::anomaly:
      return "Something is faster live than from the cache, which should be impossible: the "
             "figures below are not to be relied on.";
    case VerdictKind::inconclusive:
      break;
  }
  return "The rounds measured so far leave more than one answer open, and the report says so "
         "rather than guess.";
}

void add_verdict(Numbers& numbers, const Report& report) {
  const Verdict& verdict = report.verdict;
  std::string meaning = certain_kind(report);
  if (verdict.needed) {
    meaning += " About " + std::to_string(verdict.needed->rounds) + " rounds, " +
               duration(verdict.needed->seconds) + " of measuring, would tell.";
  }
  if (report.interrupted) meaning += " The run was stopped early: this is what was known by then.";
  numbers.push_back({"verdict: " + std::string(to_string(verdict.kind)), meaning});
}

void add_ceiling(Numbers& numbers, const Report& report) {
  if (!report.ceiling.value) return;
  const std::size_t last = report.boundaries.empty() ? 0 : report.boundaries.size() - 1;
  numbers.push_back({"ceiling: " + rate_with_interval(report.ceiling, kTo) + " samples/s",
                     "What the training step takes when its input costs nothing: batches that are "
                     "on the device already. No faster input brings more." +
                         per_sample(report.boundaries, last)});
}

void add_live(Numbers& numbers, const Report& report) {
  if (!report.live.value) return;
  std::string meaning = "What the job reaches as it is, with nothing cached.";
  if (report.chain.ranks > 1) meaning += " As every figure here, it is that of one rank.";
  numbers.push_back({"live: " + rate_with_interval(report.live, kTo) + " samples/s",
                     meaning + per_sample(report.boundaries, 0)});
}

void add_sustained(Numbers& numbers, const Report& report) {
  if (!report.live_sustained || !report.live_sustained->samples_per_second.value) return;
  numbers.push_back(
      {"live in one piece: " + rate_with_interval(report.live_sustained->samples_per_second, kTo) +
           " samples/s",
       "The same without a break, for " + duration(report.live_sustained->seconds) +
           ": the second half of that run. If it differs from live, short blocks do not show what "
           "training reaches."});
}

void add_loss(Numbers& numbers, const Report& report) {
  if (!report.loss.total.value) return;
  std::string meaning = "The share of the ceiling that the input pipeline costs";
  if (report.live.value && report.ceiling.value) {
    meaning += ": " + format_rate(*report.live.value, report.live.interval) + " of " +
               format_rate(*report.ceiling.value, report.ceiling.interval) + " samples/s are left";
  }
  numbers.push_back({"lost: " + share_with_interval(report.loss.total), meaning + "."});
}

void add_starvation(Numbers& numbers, const Report& report) {
  if (!report.loss.starvation.value) return;
  std::string meaning =
      "The part of the loss in which the step has no batch to work on. A faster "
      "input, or more workers where cores are free, wins it back.";
  if (report.live_loop.starved_share) {
    meaning += " (The training thread waited for " +
               format_percent(*report.live_loop.starved_share) +
               " of the time; waiting that the device hides behind its own work is no loss.)";
  }
  numbers.push_back({"starvation: " + share_with_interval(report.loss.starvation), meaning});
}

void add_contention(Numbers& numbers, const Report& report) {
  if (!report.loss.contention.value) return;
  numbers.push_back({"contention: " + share_with_interval(report.loss.contention),
                     "The other part of the loss: the batch is there, but loading the next ones "
                     "takes processor time and memory bandwidth from the step. More workers make "
                     "it worse; cheaper stages, fewer workers or cores of its own help."});
}

/// The stages that a finding names are one row of the table, or a span of several.
std::string joined_rates(const Report& report, const Verdict& verdict) {
  const auto stage = static_cast<std::size_t>(verdict.stage_index);
  if (stage == 0 || stage >= report.boundaries.size()) return {};
  const Estimate& cached = report.boundaries[stage].samples_per_second;
  const Estimate& live = report.boundaries[stage - 1].samples_per_second;
  if (!cached.value || !live.value) return {};
  return ": " + format_rate(*cached.value, cached.interval) +
         " samples/s with its output cached, " + format_rate(*live.value, live.interval) +
         " with it live";
}

void add_drop(Numbers& numbers, const Report& report) {
  const Verdict& verdict = report.verdict;
  if (verdict.stage.empty() || !verdict.drop.value) return;
  std::string meaning = "The share of throughput that is lost when " + verdict.stage +
                        " runs live instead of being served from the cache" +
                        joined_rates(report, verdict) +
                        ". All stages before it are free in both, so the drops of several stages "
                        "do not add up to the loss.";
  numbers.push_back(
      {"drop of " + verdict.stage + ": " + share_with_interval(verdict.drop), meaning});
}

void add_payoffs(Numbers& numbers, const Report& report) {
  for (const StageReport& stage : report.stages) {
    const bool named = stage.name == report.verdict.fix_first || stage.name == report.verdict.stage;
    if (!named || !stage.payoff.value) continue;
    std::string meaning = "What the job reaches with " + stage.name +
                          " alone free and everything else live: the most that work on it can "
                          "bring.";
    if (stage.name == report.verdict.fix_first && !report.next_stage.empty()) {
      meaning += " From there, " +
                 (report.next_stage == "training step" ? "the training step" : report.next_stage) +
                 " limits.";
    }
    numbers.push_back(
        {"payoff of " + stage.name + ": " + rate_with_interval(stage.payoff, kTo) + " samples/s",
         meaning});
  }
}

void add_cost(Numbers& numbers, const Report& report) {
  const std::string amount = cost_of_loss(report).amount;
  if (amount.empty()) return;
  numbers.push_back({"cost: " + amount,
                     "The share of the job's price (--cost-per-hour) that is lost: as large as "
                     "that of the throughput."});
}

}  // namespace

Numbers explain_results(const Report& report) {
  Numbers numbers;
  add_verdict(numbers, report);
  add_ceiling(numbers, report);
  add_live(numbers, report);
  add_sustained(numbers, report);
  add_loss(numbers, report);
  add_starvation(numbers, report);
  add_contention(numbers, report);
  add_drop(numbers, report);
  add_payoffs(numbers, report);
  add_cost(numbers, report);
  return numbers;
}

std::string explain_missing(const Report& report) {
  if (!report.loss.total.value) {
    return "No loss is given: too few rounds were measured for one.";
  }
  if (report.loss.contention.value) return {};
  return "Not measured: starvation, contention and payoffs. They take rounds after the verdict, "
         "which a flat verdict, --no-explain, a spent budget or a loader without workers leaves "
         "out.";
}

}  // namespace cachebisect
