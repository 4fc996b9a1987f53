#include "cachebisect/bisect/report/sentence.hpp"

#include <algorithm>

#include "cachebisect/bisect/report/format.hpp"
#include "cachebisect/bisect/report/report_builder.hpp"

namespace cachebisect {
namespace {

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string with_interval(const Estimate& drop, double confidence) {
  if (!drop.value) return "an unknown share";
  std::string text = percent(*drop.value);
  if (drop.interval) {
    text += " (" + percent_range(*drop.interval) + " at " + percent(confidence) + ")";
  }
  return text;
}

/// "12,345 samples/s with it cached, 6,789 with it live".
std::string before_and_after(const Report& report, const Verdict& verdict) {
  const auto stage = static_cast<std::size_t>(verdict.stage_index);
  if (stage == 0 || stage >= report.boundaries.size()) return {};
  std::size_t after = stage;
  while (after < report.boundaries.size() && !report.boundaries[after].visited) ++after;
  if (after == report.boundaries.size()) return {};
  const auto& live = report.boundaries[stage - 1].samples_per_second.value;
  const auto& cached = report.boundaries[after].samples_per_second.value;
  if (!live || !cached) return {};
  return ": " + rate(*cached) + " samples/s with it cached, " + rate(*live) + " with it live";
}

std::optional<double> payoff_of(const Report& report, const std::string& name) {
  for (const StageReport& stage : report.stages) {
    if (stage.name == name) return stage.payoff.value;
  }
  return std::nullopt;
}

/// Where another stage is worth fixing first: which, and why.
std::string fix_first_sentence(const Report& report) {
  const Verdict& verdict = report.verdict;
  if (verdict.fix_first.empty() || verdict.fix_first == verdict.stage) return {};
  std::string text = " Fix " + verdict.fix_first + " first all the same: ";
  const auto first = payoff_of(report, verdict.fix_first);
  const auto named = payoff_of(report, verdict.stage);
  if (first && named) {
    text += "alone free it gives " + rate(*first) + " samples/s, " + verdict.stage + " only " +
            rate(*named) + ". ";
    text += "The drop at " + verdict.stage;
  } else {
    text += "live its time weighs more. The drop at " + verdict.stage;
  }
  return text + " is measured with all stages before it free, which live they are not.";
}

std::string drop_sentence(const Report& report) {
  const Verdict& verdict = report.verdict;
  std::string text = verdict.stage + " costs " +
                     with_interval(verdict.drop, report.settings.confidence) + " of throughput" +
                     before_and_after(report, verdict) + ".";
  const auto stage = static_cast<std::size_t>(std::max(1, verdict.stage_index)) - 1;
  if (stage < report.stages.size() && report.stages[stage].bursty) {
    text += " It is lost in rare stalls rather than in every batch.";
  }
  if (!verdict.tied_with.empty()) {
    text += " " + list(verdict.tied_with) + " may cost as much: the measurement does not tell " +
            "them apart.";
  }
  return text + fix_first_sentence(report);
}

std::string spread_sentence(const Report& report) {
  const std::size_t count = report.verdict.shares.size();
  return with_interval(report.loss.total, report.settings.confidence) +
         " of throughput is lost before the training step, but no single stage costs " +
         percent(report.settings.min_drop) + ": " + list(report.verdict.shares) +
         (count == 1 ? " holds" : " hold") + " half of it.";
}

std::string flat_sentence(const Report& report) {
  std::string text = "The training step is the limit: ";
  const auto& interval = report.loss.total.interval;
  if (interval && interval->high > 0) {
    text += "the whole input pipeline costs at most " + percent(interval->high) +
            " of throughput (at " + percent(report.settings.confidence) + ").";
  } else {
    text += "the input pipeline costs nothing that can be measured.";
  }
  return text;
}

std::string anomaly_sentence(const Report& report) {
  const Verdict& verdict = report.verdict;
  const std::string where =
      verdict.stage.empty()
          ? "Live is faster than the ceiling with the input for free"
          : "Serving the output of " + verdict.stage + " from the cache is slower than running it";
  const std::string amount =
      verdict.drop.value ? " (by " + percent(-*verdict.drop.value) + ")" : std::string();
  return where + amount +
         ", which cannot be: the cache may not fit the processor's, the clock may change, or a "
         "stage may have side effects. Do not act on the drops before this is understood.";
}

std::string inconclusive_sentence(const Report& report) {
  const Verdict& verdict = report.verdict;
  if (verdict.rounds == 0) {
    return std::string(report.interrupted ? "Stopped before" : "The budget ended before") +
           " a single complete round was measured: nothing is known yet.";
  }
  std::string text = "Not certain after " + std::to_string(verdict.rounds) + " rounds: ";
  text += with_interval(report.loss.total, report.settings.confidence) +
          " of throughput seems lost before the training step";
  const StageReport* largest = nullptr;
  for (const StageReport& stage : report.stages) {
    if (!stage.drop.value) continue;
    if (largest == nullptr || *stage.drop.value > *largest->drop.value) largest = &stage;
  }
  if (largest != nullptr && *largest->drop.value > 0) {
    text += ", most of it (" + percent(*largest->drop.value) + ") at " +
            (largest->span.empty() ? largest->name : largest->span);
  }
  text += ".";
  for (const StageReport& stage : report.stages) {
    if (!stage.bursty || !stage.drop.value || *stage.drop.value < report.settings.min_drop)
      continue;
    text += " At " + (stage.span.empty() ? stage.name : stage.span) +
            " time is lost in rare stalls rather than in every batch.";
  }
  if (verdict.needed) {
    text += " About " + std::to_string(verdict.needed->rounds) + " rounds would tell: --budget " +
            std::to_string(static_cast<long>(verdict.needed->seconds) + 1) + ".";
  }
  return text;
}

}  // namespace

std::string verdict_sentence(const Report& report) {
  switch (report.verdict.kind) {
    case VerdictKind::anomaly:
      return anomaly_sentence(report);
    case VerdictKind::drop:
      return drop_sentence(report);
    case VerdictKind::spread:
      return spread_sentence(report);
    case VerdictKind::flat:
      return flat_sentence(report);
    case VerdictKind::inconclusive:
      return inconclusive_sentence(report);
  }
  return {};
}

std::string best_estimate(const ChainDescription& chain, const Findings& findings) {
  const auto largest = std::max_element(
      findings.parts.begin(), findings.parts.end(),
      [](const Finding& a, const Finding& b) { return a.median_drop < b.median_drop; });
  if (largest == findings.parts.end()) return {};
  const Part& part = largest->part;
  std::string text =
      part.single() ? chain.stages[static_cast<std::size_t>(part.from)].name : span_name(part);
  text += ": " + percent(largest->median_drop);
  if (const auto interval = largest->interval()) text += " (" + percent_range(*interval) + ")";
  return text;
}

}  // namespace cachebisect
