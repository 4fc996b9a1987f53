#include "cachebisect/api/selftest/score.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect::selftest {

const char* to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::right:
      return "right";
    case Outcome::wrong:
      return "WRONG";
    case Outcome::inconclusive:
      return "inconclusive";
  }
  return "unknown";
}

const char* outcome_key(Outcome outcome) noexcept {
  return outcome == Outcome::wrong ? "wrong" : to_string(outcome);
}

namespace {

constexpr double kSlack = 0.005;

bool right_drop(const Report& report, const Truth& truth) {
  const auto named = static_cast<std::size_t>(report.verdict.stage_index) - 1;
  const auto largest = static_cast<std::size_t>(truth.largest) - 1;
  if (named >= truth.drops.size() || truth.drops[named] < report.settings.min_drop - kSlack) {
    return false;
  }
  if (truth.drops[named] >= 0.9 * truth.drops[largest]) return true;
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
      return *std::min_element(truth.drops.begin(), truth.drops.end()) < -0.02;
    case VerdictKind::inconclusive:
      return false;
  }
  return false;
}

void count_intervals(const Report& report, const Truth& truth, Score& out) {
  const auto count = [&](const std::optional<Interval>& interval, double value) {
    if (!interval) return;
    ++out.intervals;
    out.covered += interval->low <= value && value <= interval->high ? 1 : 0;
  };
  for (std::size_t s = 0; s < report.stages.size(); ++s) {
    if (report.stages[s].span.empty()) count(report.stages[s].drop.interval, truth.drops[s]);
  }
  count(report.loss.total.interval, truth.loss);
}

std::string share(std::size_t part, std::size_t whole) {
  const Interval interval = clopper_pearson(part, whole, 0.95);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%5zu of %5zu  %6.2f%%  (%.2f to %.2f%%)", part, whole,
                whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole),
                100 * interval.low, 100 * interval.high);
  return text.data();
}

std::string times(const std::vector<double>& seconds) {
  if (seconds.empty()) return "none\n";
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "median %.1f s, p90 %.1f s, most %.1f s\n",
                median(seconds), quantile(seconds, 0.9), quantile(seconds, 1));
  return text.data();
}

}  // namespace

Score score(const Report& report, const PlantedChain& planted) {
  Score out;
  const Truth& truth = planted.truth;
  out.seed = planted.seed;
  out.shape = truth.shape;
  out.planted = truth.planted;
  out.stages = planted.chain.boundaries();
  out.workers = planted.chain.workers;
  out.largest_drop = truth.drops[static_cast<std::size_t>(truth.largest) - 1];
  out.seconds = report.timing.measure_seconds;
  out.rounds = report.verdict.rounds;
  const bool lost = truth.loss >= report.settings.min_drop;
  out.expected = !lost ? "flat"
                 : out.largest_drop < report.settings.min_drop
                     ? "spread"
                     : report.stages[static_cast<std::size_t>(truth.largest) - 1].name;
  const VerdictKind kind = report.verdict.kind;
  out.verdict = kind == VerdictKind::drop ? report.verdict.stage : cachebisect::to_string(kind);
  if (kind != VerdictKind::inconclusive) {
    out.outcome = is_right(report, truth) ? Outcome::right : Outcome::wrong;
  }
  const bool alarm = kind == VerdictKind::drop || kind == VerdictKind::spread;
  out.false_alarm = alarm && truth.loss < report.settings.min_drop - kSlack;
  out.wrong_stage = kind == VerdictKind::drop && out.outcome == Outcome::wrong;
  count_intervals(report, truth, out);
  return out;
}

std::string row_header() {
  return "    seed  n  W  shape      planted   drop  expected      verdict       outcome"
         "        rounds  seconds\n";
}

std::string row(const Score& s) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "%8llu %2d %2d  %-9s  %-8s %4.0f%%  %-12s  %-12s  %-12s  %6d  %7.1f\n",
                static_cast<unsigned long long>(s.seed), s.stages, s.workers, to_string(s.shape),
                s.planted.c_str(), 100 * s.largest_drop, s.expected.c_str(), s.verdict.c_str(),
                to_string(s.outcome), s.rounds, s.seconds);
  return text.data();
}

std::string summary(const std::vector<Score>& scores) {
  std::array<std::size_t, 3> outcomes{};
  std::map<std::string, std::array<std::size_t, 3>> by_kind;
  std::size_t flat = 0;
  std::size_t alarms = 0;
  std::size_t wrong_stage = 0;
  std::size_t intervals = 0;
  std::size_t covered = 0;
  std::vector<double> drop_seconds;
  std::vector<double> flat_seconds;
  for (const Score& s : scores) {
    const auto outcome = static_cast<std::size_t>(s.outcome);
    ++outcomes[outcome];
    const bool planted = !s.planted.empty();
    ++by_kind[planted ? s.planted : to_string(s.shape)][outcome];
    flat += s.shape == Pattern::flat ? 1 : 0;
    alarms += s.false_alarm ? 1 : 0;
    wrong_stage += s.wrong_stage ? 1 : 0;
    intervals += static_cast<std::size_t>(s.intervals);
    covered += static_cast<std::size_t>(s.covered);
    (s.shape == Pattern::flat ? flat_seconds : drop_seconds).push_back(s.seconds);
  }
  const std::size_t all = scores.size();
  std::string text;
  text += "right             " + share(outcomes[0], all) + "\n";
  text += "wrong             " + share(outcomes[1], all) + "\n";
  text += "inconclusive      " + share(outcomes[2], all) + "\n";
  text += "wrong stage       " + share(wrong_stage, all) + "\n";
  text += "alarms on flat    " + share(alarms, flat) + "\n";
  text += "intervals hold    " + share(covered, intervals) + "\n";
  text += "time, with a loss " + times(drop_seconds);
  text += "time, flat        " + times(flat_seconds);
  text += "planted            right  wrong  inconclusive\n";
  for (const auto& [kind, counts] : by_kind) {
    std::array<char, 96> line{};
    std::snprintf(line.data(), line.size(), "  %-15s %6zu %6zu %13zu\n", kind.c_str(), counts[0],
                  counts[1], counts[2]);
    text += line.data();
  }
  return text;
}

}  // namespace cachebisect::selftest
