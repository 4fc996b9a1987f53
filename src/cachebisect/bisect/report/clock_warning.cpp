#include "cachebisect/bisect/report/clock_warning.hpp"

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect {
namespace {

constexpr double kWorthSaying = 0.03;

/// The clocks of live and of the ceiling, in rounds with both.
struct Clocks {
  std::vector<double> live;
  std::vector<double> ceiling;
  std::vector<double> log_ratios;  ///< live over ceiling
};

Clocks clocks_of(const std::vector<BlockRecord>& records, int last) {
  std::map<int, std::array<std::optional<double>, 2>> rounds;
  for (const BlockRecord& record : records) {
    if (record.shows_live()) rounds[record.round][0] = record.result.clock_mhz;
    if (record.shows_replay_at(last)) rounds[record.round][1] = record.result.clock_mhz;
  }
  Clocks clocks;
  for (const auto& [round, pair] : rounds) {
    if (!pair[0] || !pair[1]) continue;
    clocks.live.push_back(*pair[0]);
    clocks.ceiling.push_back(*pair[1]);
    clocks.log_ratios.push_back(std::log(*pair[0] / *pair[1]));
  }
  return clocks;
}

}  // namespace

std::optional<Warning> clock_warning(const std::vector<BlockRecord>& records, int last,
                                     double confidence) {
  const Clocks clocks = clocks_of(records, last);
  const auto interval = median_interval(clocks.log_ratios, confidence);
  const double worth = std::log1p(kWorthSaying);
  if (!interval || (interval->low <= worth && interval->high >= -worth)) return std::nullopt;
  return Warning{"clock_of_arms",
                 "the CPU clock was " + rate(median(clocks.live)) +
                     " MHz in the live pipeline and " + rate(median(clocks.ceiling)) +
                     " MHz with the training step alone: a part of the difference between them is "
                     "the clock's",
                 "fix it (cpupower frequency-set -g performance); or read the drops as those of "
                 "this machine, which runs slower with more busy cores"};
}

}  // namespace cachebisect
