#include "cachebisect/selftest/score.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::selftest {

const char* to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::right:
      return "right";
    case Outcome::wrong:
      return "wrong";
    case Outcome::inconclusive:
      return "inconclusive";
  }
  return "unknown";
}

Outcome outcome_of(const std::string& text) {
  for (const Outcome outcome : {Outcome::right, Outcome::wrong, Outcome::inconclusive}) {
    if (text == to_string(outcome)) return outcome;
  }
  throw Error(ErrorKind::usage, "'" + text + "' is not an outcome: right, wrong or inconclusive");
}

namespace {

constexpr double kSlack = 0.005;   ///< of true drops around min_drop
constexpr double kAsLarge = 0.9;   ///< share of the largest cost that is as good an answer
constexpr double kAnomaly = 0.02;  ///< smallest speedup that an anomaly claims

bool right_drop(const Report& report, const Truth& truth) {
  const auto named = static_cast<std::size_t>(report.verdict.stage_index) - 1;
  const auto largest = static_cast<std::size_t>(truth.largest) - 1;
  if (named >= truth.drops.size() || truth.drops[named] < report.settings.min_drop - kSlack) {
    return false;
  }
  const auto cost = [&](std::size_t stage) {
    return truth.seconds_per_sample[stage] - truth.seconds_per_sample[stage + 1];
  };
  if (cost(named) >= kAsLarge * cost(largest)) return true;
  const auto& ties = report.verdict.tied_with;
  return std::find(ties.begin(), ties.end(), report.stages[largest].name) != ties.end();
}

bool is_right(const Report& report, const Truth& truth) {
  const double bar = report.settings.min_drop;
  const double largest = *std::max_element(truth.drops.begin(), truth.drops.end());
  switch (report.verdict.kind) {
    case VerdictKind::drop:
      return right_drop(report, truth);
    case VerdictKind::spread:
      return truth.loss > bar - kSlack && largest < bar + kSlack;
    case VerdictKind::flat:
      return truth.loss < bar + kSlack;
    case VerdictKind::anomaly:
      return *std::min_element(truth.drops.begin(), truth.drops.end()) < -kAnomaly;
    case VerdictKind::inconclusive:
      return false;
  }
  return false;
}

/// A span that holds the stage does not name it: that is neither right nor wrong.
Outcome judged(const Report& report, const Truth& truth) {
  const Verdict& verdict = report.verdict;
  if (verdict.kind == VerdictKind::inconclusive) return Outcome::inconclusive;
  const auto span = std::ranges::find(report.spans, verdict.span, &SpanReport::name);
  const bool names_span = verdict.kind == VerdictKind::drop && span != report.spans.end() &&
                          verdict.stage == verdict.span;
  if (names_span) {
    const bool holds = span->first <= truth.largest && truth.largest <= span->last;
    return holds ? Outcome::inconclusive : Outcome::wrong;
  }
  return is_right(report, truth) ? Outcome::right : Outcome::wrong;
}

/// An interval that a report prints, and what it is to hold: a value, or the interval of a truth
/// that was measured.
struct CheckedInterval {
  std::string of;  ///< name of the stage, or "loss"
  Interval printed;
  Interval truth;
  [[nodiscard]] bool holds() const noexcept {
    return printed.low <= truth.high && truth.low <= printed.high;
  }
};

/// Those of the stages, and of the whole loss; none if the truth is approximate.
std::vector<CheckedInterval> checked_intervals(const Report& report, const PlantedChain& planted) {
  std::vector<CheckedInterval> checked;
  const Truth& truth = planted.truth;
  if (truth.approximate) return checked;
  const auto exactly = [](double value) { return Interval{value, value}; };
  for (std::size_t s = 0; s < report.stages.size(); ++s) {
    const StageReport& stage = report.stages[s];
    if (!stage.span.empty() || !stage.drop.interval) continue;
    const bool measured = s < truth.drop_intervals.size();
    checked.push_back({stage.name, *stage.drop.interval,
                       measured ? truth.drop_intervals[s] : exactly(truth.drops[s])});
  }
  if (report.loss.total.interval) {
    checked.push_back(
        {"loss", *report.loss.total.interval, truth.loss_interval.value_or(exactly(truth.loss))});
  }
  return checked;
}

void count_intervals(const Report& report, const PlantedChain& planted, Score& out) {
  const std::vector<CheckedInterval> checked = checked_intervals(report, planted);
  out.intervals = static_cast<int>(checked.size());
  for (const CheckedInterval& one : checked) {
    if (one.holds()) continue;
    out.missed.push_back(one.of + ": " + format_percent(one.truth.low) + ", printed as " +
                         percent_range(one.printed));
  }
  out.covered = out.intervals - static_cast<int>(out.missed.size());
}

void describe(const PlantedChain& planted, Score& out) {
  const SimulatedChain& chain = planted.chain;
  const Truth& truth = planted.truth;
  out.seed = planted.seed;
  out.shape = truth.shape;
  out.planted = truth.planted;
  out.stages = chain.boundaries();
  out.workers = chain.workers;
  out.step_seconds = truth.seconds_per_sample.back() * static_cast<double>(chain.batch_size);
  out.jitter = std::any_of(chain.stages.begin(), chain.stages.end(), [](const SimulatedStage& s) {
    return s.jitter.kind != Jitter::Kind::none && s.jitter.cv > 0;
  });
  out.largest_drop = *std::max_element(truth.drops.begin(), truth.drops.end());
  out.loss = truth.loss;
}

void expect(const Report& report, const PlantedChain& planted, Score& out) {
  const Truth& truth = planted.truth;
  const double bar = report.settings.min_drop;
  if (truth.loss < bar || out.largest_drop < bar) {
    out.expected = truth.loss < bar ? "flat" : "spread";
    out.expected_category = out.expected;
    return;
  }
  out.expected = report.stages[static_cast<std::size_t>(truth.largest) - 1].name;
  out.expected_category = to_string(planted.category(truth.largest));
}

}  // namespace

Score score(const Report& report, const PlantedChain& planted) {
  Score out;
  describe(planted, out);
  expect(report, planted, out);
  const Verdict& verdict = report.verdict;
  out.seconds = report.timing.measure_seconds;
  out.certified = verdict.certified_after_seconds.value_or(0);
  out.rounds = verdict.rounds;
  out.block_cv = report.machine.noise.block_cv;
  out.blocks = static_cast<int>(
      std::count_if(report.blocks.begin(), report.blocks.end(),
                    [](const BlockRecord& block) { return !block.result.is_void; }));
  const bool names = verdict.kind == VerdictKind::drop;
  out.verdict = names ? verdict.stage : cachebisect::to_string(verdict.kind);
  out.named_category =
      names ? std::string(to_string(planted.category(verdict.stage_index))) : out.verdict;
  out.outcome = judged(report, planted.truth);
  const bool alarm = names || verdict.kind == VerdictKind::spread;
  out.false_alarm = alarm && out.loss < report.settings.min_drop - kSlack;
  out.wrong_stage = names && out.outcome == Outcome::wrong;
  count_intervals(report, planted, out);
  return out;
}

std::string row_header() {
  return "    seed  n  W  shape      planted     drop  expected      verdict       outcome"
         "        rounds  seconds\n";
}

std::string row(const Score& s) {
  std::array<char, 240> text{};
  const bool wrong = s.outcome == Outcome::wrong;
  std::snprintf(text.data(), text.size(),
                "%8llu %2d %2d  %-10s %-10s %4s%%  %-12s  %-12s  %-12s  %6d  %7s\n",
                static_cast<unsigned long long>(s.seed), s.stages, s.workers, to_string(s.shape),
                s.planted.c_str(), format_fixed(100 * s.largest_drop, 0).c_str(),
                s.expected.c_str(), s.verdict.c_str(), wrong ? "WRONG" : to_string(s.outcome),
                s.rounds, format_fixed(s.seconds, 1).c_str());
  return text.data();
}

}  // namespace cachebisect::selftest
