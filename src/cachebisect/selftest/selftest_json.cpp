// The self-test as JSON: counts, rates with their intervals, and every chain.
#include <ostream>

#include <nlohmann/json.hpp>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/selftest/selftest.hpp"
#include "cachebisect/selftest/summary.hpp"

namespace cachebisect::selftest {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Rate& rate) {
  const Interval interval = rate.interval();
  return {{"count", rate.part},
          {"of", rate.whole},
          {"share", rate.whole > 0 ? Json(rate.share()) : Json(nullptr)},
          {"interval", {interval.low, interval.high}}};
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

void write_json(const Result& result, std::ostream& out) {
  const std::vector<Score>& scores = result.scores;
  const auto any = [](const Score&) { return true; };
  const auto share_of = [&](Outcome outcome) {
    return json_of(rate(scores, any, [&](const Score& s) { return s.outcome == outcome; }));
  };
  Json chains = Json::array();
  for (const Score& s : scores) chains.push_back(Json::parse(to_line(s)));
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
        {"device", result.options.device},
        {"budget_seconds", result.options.budget_seconds}}},
      {"right", share_of(Outcome::right)},
      {"wrong", share_of(Outcome::wrong)},
      {"inconclusive", share_of(Outcome::inconclusive)},
      {"wrong_stage", json_of(rate(scores, any, [](const Score& s) { return s.wrong_stage; }))},
      {"intervals_hold_truth", json_of(coverage(scores))},
      {"seconds",
       {{"median", json_of(seconds(scores, any, 0.5))},
        {"p90", json_of(seconds(scores, any, 0.9))}}},
      {"chains", chains}};
  out << json.dump(2) << '\n';
}

}  // namespace cachebisect::selftest
