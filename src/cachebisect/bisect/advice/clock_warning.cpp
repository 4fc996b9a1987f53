#include "cachebisect/bisect/advice/clock_warning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {
namespace {

/// The clocks of live and of the ceiling, in rounds with both.
struct Clocks {
  std::vector<double> live;
  std::vector<double> ceiling;
  std::vector<double> log_ratios;  ///< live over ceiling
};

using ClockOf = std::optional<double> (*)(const BlockResult&);

std::optional<double> cpu_clock(const BlockResult& result) { return result.clock_mhz; }
std::optional<double> device_clock(const BlockResult& result) { return result.device.sm_clock_mhz; }

Clocks clocks_of(const std::vector<BlockRecord>& records, int last, ClockOf clock_of) {
  std::map<int, std::array<std::optional<double>, 2>> rounds;
  for (const BlockRecord& record : records) {
    if (record.shows_live()) rounds[record.round][0] = clock_of(record.result);
    if (record.shows_replay_at(last)) rounds[record.round][1] = clock_of(record.result);
  }
  Clocks clocks;
  for (const auto& [round, pair] : rounds) {
    if (!pair[0] || !pair[1] || *pair[0] <= 0 || *pair[1] <= 0) continue;
    clocks.live.push_back(*pair[0]);
    clocks.ceiling.push_back(*pair[1]);
    clocks.log_ratios.push_back(std::log(*pair[0] / *pair[1]));
  }
  return clocks;
}

std::string both_clocks(const Clocks& clocks) {
  return rate(median(clocks.live)) + " MHz in the live pipeline and " +
         rate(median(clocks.ceiling)) +
         " MHz with the training step alone: a part of the difference between them is the clock's";
}

std::optional<Warning> cpu_clock_warning(const Clocks& clocks, double confidence) {
  const auto interval = typical_interval(clocks.log_ratios, confidence);
  const double worth = std::log1p(kNegligible);
  if (!interval || (interval->low <= worth && interval->high >= -worth)) return std::nullopt;
  return Warning{"clock_of_arms", "the CPU clock was " + both_clocks(clocks),
                 "fix it (cpupower frequency-set -g performance); or read the drops as those of "
                 "this machine, which runs slower with more busy cores"};
}

std::optional<Warning> device_clock_warning(const Clocks& clocks) {
  if (clocks.live.size() < kUsualRepeats) return std::nullopt;
  const double live = median(clocks.live);
  const double ceiling = median(clocks.ceiling);
  if (std::abs(live - ceiling) <= kNegligible * std::max(live, ceiling)) return std::nullopt;
  return Warning{"device_clock_of_arms", "the device's SM clock was " + both_clocks(clocks),
                 "fix it (nvidia-smi --lock-gpu-clocks=MHZ, as root), at a clock that the device "
                 "holds under full load; or read the drops as those of this device, which runs "
                 "slower when it is busier"};
}

std::string causes_of(bool power, bool heat) {
  if (power && heat) return "its power limit and heat";
  return power ? "its power limit" : "heat";
}

}  // namespace

std::vector<Warning> clock_warnings(const std::vector<BlockRecord>& records, int last,
                                    double confidence) {
  std::vector<Warning> out;
  if (auto found = cpu_clock_warning(clocks_of(records, last, cpu_clock), confidence)) {
    out.push_back(std::move(*found));
  }
  if (auto found = device_clock_warning(clocks_of(records, last, device_clock))) {
    out.push_back(std::move(*found));
  }
  return out;
}

std::optional<Warning> throttling_warning(const std::vector<BlockRecord>& records) {
  int blocks = 0;
  int throttled = 0;
  int repeated = 0;
  bool power = false;
  bool heat = false;
  for (const BlockRecord& record : records) {
    if (record.is_evidence()) ++blocks;
    if (!record.result.device.throttled() || record.round < 0) continue;
    ++(record.result.is_void ? repeated : throttled);
    power = power || record.result.device.throttling->power;
    heat = heat || record.result.device.throttling->thermal;
  }
  if (throttled == 0) return std::nullopt;
  return Warning{"device_throttled",
                 "the device lowered its clock because of " + causes_of(power, heat) + " in " +
                     std::to_string(throttled) + " of " + std::to_string(blocks) +
                     " blocks, after " + std::to_string(repeated) + " were repeated for that",
                 heat ? "let the device cool, or improve its cooling; or read every figure as that "
                        "of a hot device"
                      : "raise the limit (nvidia-smi --power-limit), or fix a clock that it holds "
                        "(nvidia-smi --lock-gpu-clocks); or read every figure as that of a device "
                        "at its limit"};
}

}  // namespace cachebisect
