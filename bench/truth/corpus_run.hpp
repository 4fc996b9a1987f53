// Runs many planted chains by one method under one kind of noise, in virtual or real time, and
// keeps the scores in a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/truth/baselines.hpp"
#include "bench/truth/circumstances.hpp"
#include "bench/truth/score_file.hpp"

#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/selftest/score.hpp"
#include "cachebisect/simulate/simulated_noise.hpp"

namespace cachebisect::truth {

struct RunSettings {
  bool simulated = false;
  Method method = Method::bisect;
  std::string noise = "white";  ///< simulated: a name that noise_by_name() knows
  double white_cv = 0.01;
  Circumstance meets = Circumstance::none;  ///< simulated
  double budget_seconds = 60;
  bool what_ifs = false;            ///< ask some of each chain; the reports hold the answers
  int hogs = 0;                     ///< real time: processes alongside that burn a core each
  std::string device = "emulated";  ///< real time: or cuda[:N]
  selftest::DrawOptions draw{};
};

/// The report on one chain. If the chain keeps the cores busy in real time, its truth is measured
/// for half a minute after the verdict.
Report run_chain(selftest::PlantedChain& planted, const RunSettings& settings,
                 const SimulatedNoise& noise);

/// A chain that has been judged.
struct JudgedChain {
  const selftest::PlantedChain& planted;
  const Report& report;
  const selftest::Score& score;
};

/// Runs chains first_seed .. first_seed + count - 1, except those whose scores are in the file
/// `resume` (empty: no file), and appends their scores to it. Calls `finished` after each chain,
/// one call at a time. Simulated chains run on `threads` threads. Returns all scores, by seed.
/// Throws Error(usage) if the file was made with other settings.
ScoreFile run_corpus(std::uint64_t first_seed, int count, const RunSettings& settings,
                     const SimulatedNoise& noise, const std::string& resume, int threads,
                     const std::function<void(const JudgedChain&)>& finished);

}  // namespace cachebisect::truth
