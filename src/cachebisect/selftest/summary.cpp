#include "cachebisect/selftest/summary.hpp"

#include <array>
#include <cstdio>
#include <map>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect::selftest {
namespace {

constexpr double kConfidence = 0.95;

bool any(const Score& /*score*/) { return true; }

ScorePredicate outcome_is(Outcome outcome) {
  return [outcome](const Score& s) { return s.outcome == outcome; };
}

std::string line(const char* label, const Rate& rate) {
  const Interval interval = rate.interval();
  std::array<char, 120> text{};
  const auto percent = [](double share) { return format_fixed(100 * share, 2); };
  std::snprintf(text.data(), text.size(), "%-17s %5zu of %5zu  %6s%%  (%s to %s%%)\n", label,
                rate.part, rate.whole, percent(rate.share()).c_str(), percent(interval.low).c_str(),
                percent(interval.high).c_str());
  return text.data();
}

std::string times(const char* label, const std::vector<Score>& scores,
                  const ScorePredicate& among) {
  const auto middle = seconds(scores, among, 0.5);
  if (!middle) return std::string(label) + " none\n";
  std::array<char, 120> text{};
  const auto tenths = [](double value) { return format_fixed(value, 1); };
  std::snprintf(text.data(), text.size(), "%-17s median %s s, p90 %s s, max %s s\n", label,
                tenths(*middle).c_str(), tenths(*seconds(scores, among, 0.9)).c_str(),
                tenths(*seconds(scores, among, 1)).c_str());
  return text.data();
}

std::string by_planted(const std::vector<Score>& scores) {
  std::map<std::string, std::array<std::size_t, 3>> counts;
  for (const Score& s : scores) {
    ++counts[s.planted.empty() ? to_string(s.shape) : s.planted]
            [static_cast<std::size_t>(s.outcome)];
  }
  std::string text = "planted            right  wrong  inconclusive\n";
  for (const auto& [kind, by_outcome] : counts) {
    std::array<char, 120> cells{};
    std::snprintf(cells.data(), cells.size(), "  %-15s %6zu %6zu %13zu\n", kind.c_str(),
                  by_outcome[0], by_outcome[1], by_outcome[2]);
    text += cells.data();
  }
  return text;
}

}  // namespace

double Rate::share() const noexcept {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Interval Rate::interval() const { return clopper_pearson(part, whole, kConfidence); }

Rate rate(const std::vector<Score>& scores, const ScorePredicate& among,
          const ScorePredicate& yes) {
  Rate result;
  for (const Score& s : scores) {
    if (!among(s)) continue;
    ++result.whole;
    result.part += yes(s) ? 1 : 0;
  }
  return result;
}

Rate coverage(const std::vector<Score>& scores) {
  Rate result;
  for (const Score& s : scores) {
    result.part += static_cast<std::size_t>(s.covered);
    result.whole += static_cast<std::size_t>(s.intervals);
  }
  return result;
}

std::optional<double> seconds(const std::vector<Score>& scores, const ScorePredicate& among,
                              double probability) {
  std::vector<double> values;
  for (const Score& s : scores) {
    if (among(s)) values.push_back(s.seconds);
  }
  if (values.empty()) return std::nullopt;
  return quantile(values, probability);
}

std::string summary(const std::vector<Score>& scores) {
  const auto flat = [](const Score& s) { return s.shape == Pattern::flat; };
  const auto lossy = [](const Score& s) { return s.shape != Pattern::flat; };
  std::string text;
  text += line("right", rate(scores, any, outcome_is(Outcome::right)));
  text += line("wrong", rate(scores, any, outcome_is(Outcome::wrong)));
  text += line("inconclusive", rate(scores, any, outcome_is(Outcome::inconclusive)));
  text += line("wrong stage", rate(scores, any, [](const Score& s) { return s.wrong_stage; }));
  text += line("alarms on flat", rate(scores, flat, [](const Score& s) { return s.false_alarm; }));
  text += line("intervals hold", coverage(scores));
  text += times("time, with a loss", scores, lossy);
  text += times("time, flat", scores, flat);
  return text + by_planted(scores);
}

}  // namespace cachebisect::selftest
