#include "cachebisect/bisect/analysis.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/advice/replay_warnings.hpp"
#include "cachebisect/bisect/advice/sentence.hpp"
#include "cachebisect/bisect/advice/warnings.hpp"
#include "cachebisect/bisect/analysis/machine_report.hpp"
#include "cachebisect/bisect/analysis/verdict.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"
#include "cachebisect/bisect/phases/verify_phase.hpp"

namespace cachebisect {
namespace {

/// Adds what the arm of a what-if measured, or why it was not run. `lasting`: what its note says
/// once it was measured.
void add_verification(WhatIfResult& result, const WhatIfArm& wanted, const Measurements& measured,
                      const Estimate& live, const std::string& lasting) {
  if (!live.value) return;
  const auto verified = wanted.arm ? verification_of(measured, *wanted.arm) : std::nullopt;
  if (verified) result.measured = scaled(verified->speedup, *live.value);
  // A note that asks for the measurement is answered by it.
  if (result.measured.value && !result.predicted.value) result.note = lasting;
  const std::string fault = wanted.arm ? (verified ? verified->fault : std::string()) : wanted.why;
  if (!fault.empty()) result.add_note(fault);
}

/// What a withdrawn verdict said of its parts.
void withdraw_certificates(Waterfall& waterfall) {
  for (StageReport& stage : waterfall.stages) stage.certified = false;
  for (SpanReport& span : waterfall.spans) span.certified = false;
}

std::vector<WhatIfResult> answer_what_ifs(const Measurements& measured, const Analysis& analysis) {
  const ChainDescription chain = with_bytes(measured.chain, analysis.waterfall);
  std::vector<WhatIfResult> results;
  for (const std::string& text : measured.questions.what_ifs) {
    const WhatIf what_if = parse_what_if(text, chain);
    results.push_back(predict_what_if(what_if, chain, analysis.forecast, measured.storage));
    if (!measured.questions.verify) continue;
    add_verification(results.back(), arm_of(what_if, chain), measured, analysis.waterfall.live,
                     changes_training(what_if, chain));
  }
  return results;
}

}  // namespace

Analysis analyse(const Measurements& measured) {
  Analysis out;
  if (measured.verdict.table.rounds() > 0) {
    out.state = judge(measured);
    hold_mean(out.state.decision, measured.settings.min_drop, out.state.findings);
  }
  out.forecast = Forecast::of(measured);
  out.waterfall = make_waterfall(measured, out.state.findings);
  out.sustained = describe_sustained(measured, out.state, out.waterfall);
  if (hold_sustained(out.sustained, measured.verdict.table, out.state.findings)) {
    out.waterfall = make_waterfall(measured, out.state.findings);
  }
  out.machine = describe_machine(measured);
  out.explanation = explain(measured, out.state, out.forecast);
  const JudgedRun run{measured,      out.state,       out.waterfall,
                      out.sustained, out.explanation, out.forecast};
  const Judgement judgement = judge_by_rules(run);
  out.verdict = make_verdict(judgement, run);
  out.verdict.text = judgement.withdrawn.empty()
                         ? verdict_sentence(measured, out.waterfall, out.explanation, out.verdict)
                         : judgement.withdrawn;
  const bool open = out.verdict.kind == VerdictKind::inconclusive;
  if (open && !judgement.withdrawn.empty()) withdraw_certificates(out.waterfall);
  out.what_ifs = answer_what_ifs(measured, out);
  out.remedies = find_remedies(measured, out.waterfall, out.verdict, out.forecast);
  out.warnings = find_warnings(measured, out.machine, out.waterfall, out.explanation);
  for (Warning& warning : find_sustained_warnings(measured, out.waterfall, out.sustained)) {
    out.warnings.push_back(std::move(warning));
  }
  for (Warning& warning : find_replay_warnings(measured, out.state)) {
    out.warnings.push_back(std::move(warning));
  }
  if (judgement.warning) out.warnings.insert(out.warnings.begin(), *judgement.warning);
  return out;
}

std::vector<Arm> arms_to_verify(const Measurements& measured, const Analysis& analysis) {
  std::vector<Arm> arms;
  const auto add = [&](const std::optional<Arm>& arm) {
    if (arm && std::find(arms.begin(), arms.end(), *arm) == arms.end()) arms.push_back(*arm);
  };
  for (const std::string& text : measured.questions.what_ifs) {
    add(arm_of(parse_what_if(text, measured.chain), measured.chain).arm);
  }
  for (const Remedy& remedy : first_remedies(analysis.remedies)) add(remedy.arm);
  return arms;
}

}  // namespace cachebisect
