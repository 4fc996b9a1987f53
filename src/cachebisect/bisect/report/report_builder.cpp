#include "cachebisect/bisect/report/report_builder.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "cachebisect/bisect/costs/fitted_law.hpp"
#include "cachebisect/bisect/costs/payoff.hpp"
#include "cachebisect/bisect/costs/remedy_forecast.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"
#include "cachebisect/bisect/evidence/drift.hpp"
#include "cachebisect/bisect/report/machine_report.hpp"
#include "cachebisect/bisect/report/near_floor.hpp"
#include "cachebisect/bisect/report/remedies.hpp"
#include "cachebisect/bisect/report/sentence.hpp"
#include "cachebisect/bisect/report/warnings.hpp"

namespace cachebisect {
namespace {

/// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double kSigmaOverMad = 1.4826;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

std::optional<double> block_cv(const RoundTable& rounds) {
  std::vector<double> cvs;
  for (const int k : rounds.visited_boundaries()) {
    if (rounds.visits(k) >= 3) cvs.push_back(coefficient_of_variation(rounds.block_taus(k)));
  }
  return cvs.empty() ? std::nullopt : std::optional(median(cvs));
}

void fill_skipped(Report& report, const std::vector<BlockRecord>& records) {
  for (const BlockRecord& record : records) {
    report.skipped += record.result.skipped;
    for (const std::string& what : record.result.first_skipped) {
      const auto& known = report.first_skipped;
      if (known.size() < 8 && std::find(known.begin(), known.end(), what) == known.end()) {
        report.first_skipped.push_back(what);
      }
    }
    if (!report.cache.resident_share) report.cache.resident_share = record.result.resident_share;
    const bool live = record.arm.kind == ArmKind::replay && record.arm.boundary == 0;
    if (live && !report.timing.first_batch_seconds && record.result.first_batch_seconds > 0) {
      report.timing.first_batch_seconds = record.result.first_batch_seconds;
    }
  }
}

std::string part_name(const Report& report, const Part& part) {
  return part.single() ? report.chain.stages[static_cast<std::size_t>(part.from)].name
                       : span_name(part);
}

/// What a verdict waits for: the whole loss while it is not above min_drop, then the largest part.
const Finding& open_question(const Findings& findings, double min_drop) {
  if (findings.whole.median_drop <= min_drop) return findings.whole;
  return *std::max_element(
      findings.parts.begin(), findings.parts.end(),
      [](const Finding& a, const Finding& b) { return a.median_drop < b.median_drop; });
}

/// Rounds after which the evidence reaches its threshold if it grows on as it did; twice as many as
/// now while it has not grown. 0 for rounds too few to tell.
int rounds_at_this_pace(const Evidence& evidence, double bar) {
  constexpr std::size_t least_rounds = 12;
  constexpr double most_rounds = 1e6;
  if (evidence.rounds() < least_rounds) return 0;
  const auto rounds = static_cast<double>(evidence.rounds());
  const double grown = std::max(evidence.evidence_above(bar), evidence.evidence_below(bar));
  const double begun = std::exp(1.0);
  if (grown < begun) return static_cast<int>(2 * rounds);
  const double needed = rounds * std::log(evidence.threshold()) / std::log(grown);
  return static_cast<int>(std::min(std::ceil(needed), most_rounds));
}

}  // namespace

ReportBuilder::ReportBuilder(const ChainDescription& chain, const BisectOptions& options)
    : options_(&options) {
  report_.chain = chain;
  report_.settings = {options.confidence, options.min_drop, options.budget_seconds, options.io,
                      options.seed};
}

void ReportBuilder::begin() {
  report_.started = utc_now();
  report_.machine = describe_machine(probe_machine());
  if (report_.chain.usable_cpus) report_.machine.usable_cpus = *report_.chain.usable_cpus;
}

void ReportBuilder::prepared(const CacheFacts& facts, double seconds) {
  report_.cache = facts;
  if (facts.floor_seconds_per_sample) {
    report_.machine.floor.ns_per_sample = 1e9 * *facts.floor_seconds_per_sample;
  }
  if (facts.floor_seconds_per_batch) {
    report_.machine.floor.us_per_batch = 1e6 * *facts.floor_seconds_per_batch;
  }
  report_.timing.cache_seconds = facts.seconds;
  report_.timing.prepare_seconds = std::max(0.0, seconds - facts.seconds);
}

Report ReportBuilder::make(const Measured& measured) const {
  ReportBuilder filled = *this;
  filled.fill(measured);
  return std::move(filled.report_);
}

void ReportBuilder::fill(const Measured& measured) {
  report_.interrupted = measured.interrupted;
  report_.timing.measure_seconds = measured.runner.elapsed();
  if (measured.verdict_after) {
    report_.timing.explain_seconds = report_.timing.measure_seconds - *measured.verdict_after;
  }
  report_.blocks = measured.runner.records();
  if (!measured.serve_seconds.empty()) {
    report_.cache.serve_seconds_per_sample = measured.serve_seconds;
  }
  fill_waterfall(report_, measured, options_->confidence);
  fill_predictions(report_);
  fill_skipped(report_, measured.runner.records());
  report_.machine.noise.block_cv = block_cv(measured.ledger.rounds());
  if (measured.null_evidence.rounds() > 0) {
    report_.machine.noise.null_drop = {theta_to_drop(measured.null_evidence.centre()),
                                       measured.null_evidence.drop_interval()};
  }
  fill_disturbance(report_.machine.noise, measured.machine.seen());
  std::vector<double> live = measured.ledger.rounds().block_taus(0);
  for (double& tau : live) tau = std::log(tau);
  report_.machine.noise.drift = find_drift(live, options_->confidence);
  fill_verdict(measured);
  const std::optional<Warning> refusal = refuse_near_floor(report_);
  report_.timing.cache_seconds += measured.refill_seconds;
  report_.warnings = find_warnings(report_, measured, *options_);
  if (measured.explanation != nullptr) fill_explanation(report_, *measured.explanation);
  fill_what_ifs(report_, options_->what_ifs);
  report_.remedies = find_remedies(report_);
  predict_remedies(report_);
  if (options_->verify) fill_verification(report_, measured.verified);
  report_.verdict.text = refusal ? refusal->text : verdict_sentence(report_);
  if (refusal) report_.warnings.insert(report_.warnings.begin(), *refusal);
}

void ReportBuilder::fill_verdict(const Measured& measured) {
  Verdict& verdict = report_.verdict;
  const Findings& findings = measured.findings;
  verdict.kind = measured.decision.kind;
  verdict.rounds = static_cast<int>(measured.ledger.rounds().rounds());
  verdict.certified_after_seconds = measured.certified_after;
  if (verdict.rounds == 0) {
    fill_needed(measured);
    return;
  }
  const bool names = verdict.kind == VerdictKind::drop || verdict.kind == VerdictKind::anomaly;
  if (names && measured.decision.part) {
    const Finding& finding = findings.parts[*measured.decision.part];
    verdict.stage = part_name(report_, finding.part);
    verdict.stage_index = finding.part.from + 1;
    verdict.drop = {finding.drop, finding.interval()};
  }
  if (verdict.kind == VerdictKind::drop) {
    for (const std::size_t rival : findings.rivals) {
      verdict.tied_with.push_back(part_name(report_, findings.parts[rival].part));
    }
    const auto first = best_payoff(report_);
    verdict.fix_first = first ? first->stage : verdict.stage;
  }
  if (verdict.kind == VerdictKind::spread) {
    verdict.drop = report_.loss.total;
    for (const std::size_t part : half_of_loss(findings)) {
      verdict.shares.push_back(part_name(report_, findings.parts[part].part));
    }
  }
  if (verdict.kind == VerdictKind::flat) verdict.drop = report_.loss.total;
  fill_needed(measured);
}

void ReportBuilder::fill_needed(const Measured& measured) {
  Verdict& verdict = report_.verdict;
  const double round = std::max(1e-6, measured.plan.round_seconds());
  const double bar = drop_to_theta(options_->min_drop);
  Power power{.sigma = 0.01, .alpha = 1 - options_->confidence, .weight = 0.5};
  double distance = drop_to_theta(0.2) - bar;
  int at_this_pace = 0;
  if (verdict.rounds > 0) {
    const Finding& open = open_question(measured.findings, options_->min_drop);
    const double theta = drop_to_theta(std::min(open.median_drop, 0.999999));
    power.sigma = kSigmaOverMad * std::max(measured.findings.whole.scale, open.scale);
    distance = std::abs(theta - bar);
    at_this_pace = rounds_at_this_pace(measured.ledger.pair(open.part), bar);
  }
  const double fitting = options_->budget_seconds / round;
  if (const auto reach = power.distance_in(fitting)) {
    verdict.detectable_drop = theta_to_drop(bar + *reach);
  }
  if (verdict.kind != VerdictKind::inconclusive) return;
  const int more = std::max({power.rounds_for(distance), at_this_pace, verdict.rounds + 1});
  verdict.needed = Needed{
      more, report_.timing.measure_seconds + round * static_cast<double>(more - verdict.rounds)};
}

}  // namespace cachebisect
