// Runs many planted chains by one method under one kind of noise, on all cores or in real time, and
// remembers what is done.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/truth/baselines.hpp"

#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/selftest/score.hpp"
#include "cachebisect/simulate/simulated_noise.hpp"

namespace cachebisect::truth {

struct RunSettings {
  bool simulated = false;
  Method method = Method::bisect;
  std::string noise = "white";  ///< simulated: by name, as noise_by_name() takes it
  double white_cv = 0.01;
  double budget_seconds = 60;
  bool what_ifs = false;  ///< ask some of each chain; the answers are in the reports
  int hogs = 0;           ///< real time: processes that burn a core each beside
  selftest::DrawOptions draw{};
};

/// Scores of one kind, in a file: a first line that says how they were made, then one line each.
struct ScoreFile {
  std::string method;
  std::string mode;  ///< "simulated, white noise 1%", "real time, 1 hog"
  double budget_seconds = 60;
  std::string machine;
  std::string date;
  std::string git;
  std::vector<selftest::Score> scores;
};

/// Throws Error(usage) for a file that is none.
ScoreFile load_scores(const std::string& file);

/// The verdict on one chain. In real time the truth of a chain that keeps the cores busy is
/// measured too, for half a minute after the verdict.
Report run_chain(selftest::PlantedChain& planted, const RunSettings& settings,
                 const SimulatedNoise& noise);

/// A chain that is done.
struct Finished {
  const selftest::PlantedChain& planted;
  const Report& report;
  const selftest::Score& score;
};

/// Runs chains first_seed .. first_seed + count - 1, less those in `resume` (a file; empty: none),
/// where each finished one is appended; `finished` hears of each, one at a time. Simulated chains
/// run on `threads` threads. All scores by seed. Throws Error(usage) where the file was made
/// otherwise.
ScoreFile run_corpus(std::uint64_t first_seed, int count, const RunSettings& settings,
                     const SimulatedNoise& noise, const std::string& resume, int threads,
                     const std::function<void(const Finished&)>& finished);

}  // namespace cachebisect::truth
