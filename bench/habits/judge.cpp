#include "bench/habits/judge.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace cachebisect::habits {
namespace {

using selftest::Outcome;

constexpr double kSlack = 0.005;  ///< of a true loss around min_drop
constexpr double kAsMuch = 0.9;   ///< share of the largest payoff that is as good an answer

/// Warnings that take back what the verdict says.
constexpr std::array<std::string_view, 2> kDoubts{"not_sustained", "not_stationary"};
/// Warnings whose text may name the cause of an inconclusive verdict.
constexpr std::array<std::string_view, 3> kExplanations{"not_sustained", "not_stationary",
                                                        "remembers_samples"};

template <class Codes>
bool has_code(const Warning& warning, const Codes& codes) {
  return std::ranges::find(codes, warning.code) != codes.end();
}

double largest_payoff(const HabitTruth& truth) {
  return truth.payoffs.empty() ? 0 : *std::ranges::max_element(truth.payoffs);
}

/// Stages (0-based) that are as good an answer as the costliest one.
std::vector<std::size_t> causes(const HabitTruth& truth) {
  std::vector<std::size_t> stages;
  const double bar = kAsMuch * largest_payoff(truth);
  for (std::size_t s = 0; s < truth.payoffs.size(); ++s) {
    if (truth.payoffs[s] > 0 && truth.payoffs[s] >= bar) stages.push_back(s);
  }
  return stages;
}

/// The stage that a drop tells to fix first; if that is the one with the drop, also those tied with
/// it, and those of its span.
std::set<std::string> named_stages(const Report& report) {
  const Verdict& verdict = report.verdict;
  if (!verdict.fix_first.empty() && verdict.fix_first != verdict.stage) return {verdict.fix_first};
  std::set<std::string> names(verdict.tied_with.begin(), verdict.tied_with.end());
  names.insert(verdict.stage);
  for (const StageReport& named : report.stages) {
    if (named.span.empty()) continue;
    if (named.name != verdict.stage && named.span != verdict.stage) continue;
    for (const StageReport& other : report.stages) {
      if (other.span == named.span) names.insert(other.name);
    }
  }
  return names;
}

bool names_a_cause(const Report& report, const HabitTruth& truth) {
  const std::set<std::string> names = named_stages(report);
  return std::ranges::any_of(causes(truth), [&](std::size_t s) {
    return s < report.stages.size() && names.contains(report.stages[s].name);
  });
}

bool is_right(const Report& report, const HabitTruth& truth) {
  const double bar = report.settings.min_drop;
  const double loss = truth.truth.loss;
  switch (report.verdict.kind) {
    case VerdictKind::drop:
      return names_a_cause(report, truth) && largest_payoff(truth) > bar - kSlack;
    case VerdictKind::spread:
      return loss > bar - kSlack && largest_payoff(truth) < bar + kSlack;
    case VerdictKind::flat:
      return loss < bar + kSlack;
    case VerdictKind::anomaly:
    case VerdictKind::inconclusive:
      break;
  }
  return false;
}

bool is_inconclusive(const Report& report) {
  const auto doubted = [](const Warning& warning) { return has_code(warning, kDoubts); };
  return report.verdict.kind == VerdictKind::inconclusive ||
         std::ranges::any_of(report.warnings, doubted);
}

Outcome outcome_of(const Report& report, const HabitTruth& truth) {
  const bool names_all = report.verdict.kind == VerdictKind::drop &&
                         named_stages(report).size() >= report.stages.size();
  if (names_all) return Outcome::inconclusive;
  if (is_right(report, truth)) return Outcome::right;
  return is_inconclusive(report) ? Outcome::inconclusive : Outcome::wrong;
}

bool text_names_cause(const Report& report, const HabitTruth& truth) {
  std::string text = report.verdict.text;
  for (const Warning& warning : report.warnings) {
    if (has_code(warning, kExplanations)) text += "\n" + warning.text;
  }
  return std::ranges::any_of(causes(truth), [&](std::size_t s) {
    return s < report.stages.size() && mentions(text, report.stages[s].name);
  });
}

/// What the truth asks for: the costliest stage, or "flat" or "spread".
std::string expected(const Report& report, const HabitTruth& truth) {
  const double bar = report.settings.min_drop;
  if (truth.truth.loss < bar) return "flat";
  if (largest_payoff(truth) < bar) return "spread";
  const auto at =
      static_cast<std::size_t>(std::ranges::max_element(truth.payoffs) - truth.payoffs.begin());
  return at < report.stages.size() ? report.stages[at].name : "";
}

selftest::PlantedChain planted_with(const HabitChain& chain, const HabitTruth& truth,
                                    double min_drop) {
  selftest::PlantedChain planted = chain.planted;
  planted.truth = truth.truth;
  planted.truth.planted = chain.habit;
  planted.truth.shape =
      truth.truth.loss < min_drop ? selftest::Pattern::flat : selftest::Pattern::drop;
  return planted;
}

}  // namespace

HabitScore judge(const Report& report, const HabitChain& chain, const HabitTruth& truth) {
  HabitScore result;
  selftest::Score& score = result.score;
  score = selftest::score(report, planted_with(chain, truth, report.settings.min_drop));
  score.seconds -= report.timing.explain_seconds;
  score.largest_drop = largest_payoff(truth);
  score.expected = expected(report, truth);
  score.outcome = outcome_of(report, truth);
  score.wrong_stage = report.verdict.kind == VerdictKind::drop && score.outcome == Outcome::wrong;
  result.names_cause = score.outcome == Outcome::inconclusive && text_names_cause(report, truth);
  for (const Warning& warning : report.warnings) result.warnings.push_back(warning.code);
  result.sentence = report.verdict.text;
  return result;
}

HabitScore judge_error(const std::string& message, const HabitChain& chain,
                       const HabitTruth& truth) {
  Report report;
  report.settings.min_drop = BisectSettings{}.min_drop;
  for (const StageText& stage : chain.stages) report.stages.push_back({.name = stage.name});
  HabitScore result = judge(report, chain, truth);
  const std::string& culprit = chain.stages[static_cast<std::size_t>(chain.last) - 1].name;
  const bool right = chain.forbidden && mentions(message, culprit);
  result.score.outcome = right ? Outcome::right : Outcome::wrong;
  result.score.verdict = right ? culprit : "error";
  result.names_cause = false;
  result.sentence = message;
  return result;
}

bool mentions(std::string_view text, std::string_view name) noexcept {
  const auto is_word = [](char c) {
    return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  };
  for (std::size_t at = text.find(name); !name.empty() && at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_word(text[at - 1]);
    if (begins && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

}  // namespace cachebisect::habits
