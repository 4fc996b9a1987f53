// The self-test as JSON: counts, rates with their intervals, and every chain.
#include <ostream>

#include <nlohmann/json.hpp>

#include "cachebisect/api/selftest/selftest.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/base/version.hpp"

namespace cachebisect::selftest {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kConfidence = 0.95;

Json rate(std::size_t part, std::size_t whole) {
  const Interval interval = clopper_pearson(part, whole, kConfidence);
  return {{"count", part},
          {"of", whole},
          {"share", whole > 0 ? Json(static_cast<double>(part) / static_cast<double>(whole))
                              : Json(nullptr)},
          {"interval", {interval.low, interval.high}}};
}

Json chain(const Score& s) {
  return {{"seed", s.seed},
          {"stages", s.stages},
          {"workers", s.workers},
          {"shape", to_string(s.shape)},
          {"planted", s.planted.empty() ? Json(nullptr) : Json(s.planted)},
          {"largest_drop", s.largest_drop},
          {"expected", s.expected},
          {"verdict", s.verdict},
          {"outcome", outcome_key(s.outcome)},
          {"intervals", s.intervals},
          {"covered", s.covered},
          {"rounds", s.rounds},
          {"seconds", s.seconds}};
}

Json seconds_of(const std::vector<Score>& scores) {
  if (scores.empty()) return {{"median", nullptr}, {"p90", nullptr}};
  std::vector<double> seconds;
  for (const Score& s : scores) seconds.push_back(s.seconds);
  return {{"median", median(seconds)}, {"p90", quantile(seconds, 0.9)}};
}

}  // namespace

void write_json(const Result& result, std::ostream& out) {
  std::size_t right = 0;
  std::size_t wrong = 0;
  std::size_t wrong_stage = 0;
  std::size_t intervals = 0;
  std::size_t covered = 0;
  Json chains = Json::array();
  for (const Score& s : result.scores) {
    right += s.outcome == Outcome::right ? 1 : 0;
    wrong += s.outcome == Outcome::wrong ? 1 : 0;
    wrong_stage += s.wrong_stage ? 1 : 0;
    intervals += static_cast<std::size_t>(s.intervals);
    covered += static_cast<std::size_t>(s.covered);
    chains.push_back(chain(s));
  }
  const std::size_t all = result.scores.size();
  const MachineInfo machine = probe_machine();
  const Json json{
      {"schema_version", 1},
      {"tool", {{"name", "cachebisect"}, {"version", version()}, {"git", git_revision()}}},
      {"command", "selftest"},
      {"interrupted", result.interrupted},
      {"machine", {{"cpu", machine.cpu}, {"usable_cpus", machine.usable_cpus}}},
      {"settings",
       {{"cases", result.options.cases},
        {"seed", result.options.seed},
        {"budget_seconds", result.options.budget_seconds}}},
      {"confidence", kConfidence},
      {"right", rate(right, all)},
      {"wrong", rate(wrong, all)},
      {"inconclusive", rate(all - right - wrong, all)},
      {"wrong_stage", rate(wrong_stage, all)},
      {"intervals_hold_truth", rate(covered, intervals)},
      {"seconds", seconds_of(result.scores)},
      {"chains", chains}};
  out << json.dump(2) << '\n';
}

}  // namespace cachebisect::selftest
