// A simulated chain as what is tuned: workers are all that can be changed.
#pragma once

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/starved_chain.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/tune/candidates.hpp"
#include "cachebisect/tune/subject.hpp"

namespace cachebisect::test {

class SimulatedSubject final : public tune::Subject {
 public:
  explicit SimulatedSubject(SimulatedChain start) : chain(std::move(start)) {}

  Report diagnose(double budget_seconds) override {
    ++diagnoses;
    SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.01}});
    BisectOptions asked;
    asked.budget_seconds = budget_seconds;
    asked.explain = false;
    asked.what_ifs = tune::questions(replayer.describe(), chain.cores);
    Report report = bisect(replayer, asked);
    if (budget_seconds < seconds_to_certainty) leave_open(report);
    return report;
  }

  [[nodiscard]] bool diagnoses_again() const override { return again; }

  tune::Comparison compare(const std::vector<Edit>& edits, double) override {
    compared.push_back(edits);
    if (before_comparing) before_comparing();
    const double gain = std::log(rate_of(changed(edits)) / rate_of(chain)) + penalty;
    return {.gain = {.value = gain, .interval = Interval{gain - 0.01, gain + 0.01}}, .seconds = 3};
  }

  void keep(const std::vector<Edit>& edits) override { chain = changed(edits); }
  [[nodiscard]] std::string json() const override {
    return R"({"workers":)" + std::to_string(chain.workers) + "}";
  }

  SimulatedChain chain;
  int diagnoses = 0;
  double seconds_to_certainty = 0;  ///< the least budget of a diagnosis that says anything
  bool again = true;
  std::vector<std::vector<Edit>> compared;
  double penalty = 0;  ///< of every change, in log throughput
  std::function<void()> before_comparing;

 private:
  static void leave_open(Report& report) {
    report.verdict.kind = VerdictKind::inconclusive;
    report.what_ifs.clear();
    report.remedies.clear();
  }

  [[nodiscard]] SimulatedChain changed(const std::vector<Edit>& edits) const {
    SimulatedChain other = chain;
    for (const Edit& edit : edits) {
      if (edit.path != "/workers") throw Error(ErrorKind::usage, "there is no " + edit.path);
      other.workers = std::stoi(edit.value);
    }
    return other;
  }
};

}  // namespace cachebisect::test
