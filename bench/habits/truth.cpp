#include "bench/habits/truth.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::habits {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKey = "truth_of";

Json json_of(const Interval& interval) { return {interval.low, interval.high}; }

Interval interval_of(const Json& json) {
  return {json.at(0).get<double>(), json.at(1).get<double>()};
}

}  // namespace

std::string to_line(const HabitTruth& truth, const std::string& habit, std::uint64_t seed) {
  Json intervals = Json::array();
  for (const Interval& interval : truth.truth.drop_intervals)
    intervals.push_back(json_of(interval));
  return Json{
      {kKey, habit},
      {"seed", seed},
      {"seconds_per_sample", truth.truth.seconds_per_sample},
      {"drops", truth.truth.drops},
      {"drop_intervals", intervals},
      {"loss", truth.truth.loss},
      {"loss_interval",
       json_of(truth.truth.loss_interval.value_or(Interval{truth.truth.loss, truth.truth.loss}))},
      {"largest", truth.truth.largest},
      {"payoffs", truth.payoffs},
      {"step_ms", truth.tuning.step_ms},
      {"wait_us", truth.tuning.wait_us}}
      .dump();
}

bool is_truth(const std::string& line) { return line.starts_with("{\"" + std::string(kKey)); }

NamedTruth truth_of(const std::string& line) {
  NamedTruth result;
  try {
    const Json json = Json::parse(line);
    json.at(kKey).get_to(result.habit);
    json.at("seed").get_to(result.seed);
    selftest::Truth& truth = result.truth.truth;
    truth.planted = result.habit;
    json.at("seconds_per_sample").get_to(truth.seconds_per_sample);
    json.at("drops").get_to(truth.drops);
    for (const Json& item : json.at("drop_intervals")) {
      truth.drop_intervals.push_back(interval_of(item));
    }
    json.at("loss").get_to(truth.loss);
    truth.loss_interval = interval_of(json.at("loss_interval"));
    json.at("largest").get_to(truth.largest);
    json.at("payoffs").get_to(result.truth.payoffs);
    json.at("step_ms").get_to(result.truth.tuning.step_ms);
    json.at("wait_us").get_to(result.truth.tuning.wait_us);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, std::string("not a truth: ") + error.what());
  }
  return result;
}

void set_drops(selftest::Truth& truth, double slack) {
  const auto& taus = truth.seconds_per_sample;
  for (std::size_t k = 1; k < taus.size(); ++k) {
    truth.drops.push_back(1 - taus[k] / taus[k - 1]);
    truth.drop_intervals.push_back({truth.drops.back() - slack, truth.drops.back() + slack});
  }
  truth.loss = 1 - taus.back() / taus.front();
  truth.loss_interval = Interval{truth.loss - slack, truth.loss + slack};
  truth.largest = 1 + static_cast<int>(std::max_element(truth.drops.begin(), truth.drops.end()) -
                                       truth.drops.begin());
}

}  // namespace cachebisect::habits
