#include "cachebisect/bisect/analysis/verdict_rules.hpp"

#include "cachebisect/bisect/analysis/near_floor.hpp"
#include "cachebisect/bisect/costs/predicted_fix_first.hpp"

namespace cachebisect {
namespace {

const std::string& stage_name(const ChainDescription& chain, int stage) {
  return chain.stages.at(static_cast<std::size_t>(stage) - 1).name;
}

bool names_part(VerdictKind kind) {
  return kind == VerdictKind::drop || kind == VerdictKind::anomaly;
}

bool is_loss(VerdictKind kind) { return kind == VerdictKind::drop || kind == VerdictKind::spread; }

Judgement by_blocks(Judgement judgement, const JudgedRun& run) {
  if (run.measured.verdict.table.rounds() == 0) return judgement;
  const Decision& decision = run.state.decision;
  judgement.kind = decision.kind;
  if (!names_part(decision.kind) || !decision.part) return judgement;
  judgement.part = decision.part;
  const Part& part = run.state.findings.parts[*decision.part].part;
  judgement.stage = part.from + 1;
  judgement.stage_name = part_name(run.measured.chain, part);
  return judgement;
}

/// Where replay cannot take a span apart, and one stage takes most of its time.
Judgement by_fidelity(Judgement judgement, const JudgedRun& run) {
  if (!judgement.part) return judgement;
  const VerdictState& state = run.state;
  const Part& span = state.findings.parts[*judgement.part].part;
  if (const auto stage =
          dominant_stage(joined_span(run.measured, state, span), state.distortions)) {
    judgement.stage = *stage;
    judgement.stage_name = stage_name(run.measured.chain, *stage);
  }
  return judgement;
}

Judgement by_floor(Judgement judgement, const JudgedRun& run) {
  auto warning = near_floor_warning(run.measured, run.waterfall, run.state);
  if (!warning) return judgement;
  judgement = {};
  judgement.withdrawn = warning->text;
  judgement.final = true;
  judgement.warning = std::move(warning);
  return judgement;
}

Judgement in_one_piece(Judgement judgement, const JudgedRun& run) {
  const Findings& findings = run.state.findings;
  const double least = findings.leader ? findings.parts[*findings.leader].low : 0;
  const double min_drop = run.measured.settings.min_drop;
  const VerdictKind kind = kind_in_one_piece(judgement.kind, run.sustained, least, min_drop);
  if (kind == judgement.kind) return judgement;
  judgement = {};
  judgement.kind = kind;
  judgement.final = true;
  judgement.withdrawn = sustained_text(run.measured, run.waterfall, run.sustained);
  if (kind == VerdictKind::flat) judgement.loss = run.sustained.loss;
  return judgement;
}

Judgement by_gain(Judgement judgement, const JudgedRun& run) {
  if (!is_loss(judgement.kind)) return judgement;
  const Explanation& explanation = run.explanation;
  judgement.ranks = explanation.slow_ranks;
  const ChainDescription& chain = run.measured.chain;
  if (explanation.pays_most > 0) {
    judgement.fix_first = stage_name(chain, explanation.pays_most);
  } else if (judgement.kind == VerdictKind::drop) {
    // The cost model does not know stalls.
    judgement.fix_first = run.state.findings.lose_in_stalls()
                              ? judgement.stage_name
                              : fix_first_by_model(chain, run.forecast, judgement.stage_name);
  }
  return judgement;
}

}  // namespace

const std::array<VerdictRule, 5>& verdict_rules() {
  static constexpr std::array<VerdictRule, 5> kRules{{{"blocks", by_blocks},
                                                      {"fidelity", by_fidelity},
                                                      {"floor", by_floor},
                                                      {"in_one_piece", in_one_piece},
                                                      {"fix_first", by_gain}}};
  return kRules;
}

Judgement judge_by_rules(const JudgedRun& run) {
  Judgement judgement;
  for (const VerdictRule& rule : verdict_rules()) {
    judgement = rule.apply(std::move(judgement), run);
  }
  return judgement;
}

}  // namespace cachebisect
