#include "cachebisect/bisect/explain/explain_phase.hpp"

#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

/// A flat verdict comes fast and needs no explanation but what the probes cost.
constexpr double kFlatSeconds = 1.0;

int named_stage(const Decision& decision, const Findings& findings) {
  if (!decision.part || !findings.parts[*decision.part].part.single()) return 0;
  return findings.parts[*decision.part].part.to;
}

}  // namespace

ExplainPhase::ExplainPhase(Replayer& replayer, BlockRunner& runner, const Plan& plan,
                           const ChainDescription& chain, const BisectOptions& options)
    : replayer_(&replayer), runner_(&runner), plan_(&plan), chain_(&chain), options_(&options) {}

void ExplainPhase::run(const Verdict& verdict, RandomStream& random,
                       const std::function<void()>& after_round) {
  try {
    explain(verdict, random, after_round);
    check_cache(verdict, random, after_round);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    fault_ = Warning{
        "not_explained",
        std::string("after the verdict, the rounds that explain it failed: ") + error.what(),
        "the verdict is that of the rounds before"};
  }
}

void ExplainPhase::explain(const Verdict& verdict, RandomStream& random,
                           const std::function<void()>& after_round) {
  const VerdictKind kind = verdict.decision.kind;
  ExplainOptions options{.confidence = options_->confidence,
                         .first_round = verdict.rounds,
                         .verdict_stage = named_stage(verdict.decision, verdict.findings)};
  if (kind == VerdictKind::flat) {
    options.most_seconds = kFlatSeconds;
    options.least_rounds = Power{.alpha = 1 - options_->confidence, .weight = 1}.least_rounds();
  }
  const auto free = stages_to_free(verdict.findings, verdict.decision, runner_->records());
  const int stages = static_cast<int>(chain_->stages.size());
  auto arms = arms_to_explain(*replayer_, kind, stages, free);
  if (arms.empty()) return;
  explainer_.emplace(*runner_, *plan_, *chain_, std::move(arms), options);
  while (explainer_->round(random)) after_round();
}

void ExplainPhase::check_cache(const Verdict& verdict, RandomStream& random,
                               const std::function<void()>& after_round) {
  if (verdict.decision.kind != VerdictKind::drop) return;
  const auto boundary = boundary_to_check(*chain_, named_stage(verdict.decision, verdict.findings));
  if (!boundary || !replayer_->supports({.boundary = *boundary})) return;
  CacheCheck check(*replayer_, *runner_, *plan_, *boundary, verdict.facts, options_->confidence);
  if (!check.affordable() || !check.fill(options_->stop)) return;
  cache_check_.emplace(std::move(check));
  const int first = verdict.rounds + (explainer_ ? explainer_->rounds() : 0);
  while (cache_check_->round(first + cache_check_->rounds(), random)) after_round();
}

Explanation ExplainPhase::explanation(const Findings& findings) const {
  Explanation out;
  if (explainer_) out = explainer_->explanation(findings);
  if (cache_check_) {
    out.larger_cache = cache_check_->change();
    out.fill_seconds = cache_check_->fill_seconds();
  }
  out.fault = fault_;
  return out;
}

}  // namespace cachebisect
