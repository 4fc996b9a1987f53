// Runs the corpus of habits, chain by chain, and keeps scores and measured truths in a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/habits/habits.hpp"
#include "bench/habits/judge.hpp"
#include "bench/truth/score_file.hpp"

namespace cachebisect::habits {

struct RunSettings {
  std::vector<Habit> habits;
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 20;
  double budget_seconds = 60;
  double truth_seconds = 20;  ///< with the habit, and again without it
  bool simulated = false;     ///< in virtual time, with white noise, by the planned costs
  std::string resume;         ///< file of scores; empty: none
  std::string reports;        ///< folder for HABIT-SEED.json of each chain; empty: none
};

/// Judges every habit at every seed, except those whose scores are in the file, and appends theirs.
/// Truths that are measured are kept in the file too, and are not measured again. Calls `finished`
/// after each chain. Returns all scores, those of the file first. Throws Error(usage) if the file
/// was made with other settings or a habit cannot be simulated, and what opening a pipeline throws.
std::vector<HabitScore> run_habits(const RunSettings& settings,
                                   const std::function<void(const HabitScore&)>& finished);

/// The loss of a chain by plan, and that of its live loop.
struct PlanCheck {
  std::string habit;
  std::uint64_t seed = 0;
  double planned_loss = 0;
  double measured_loss = 0;
};
/// Measures the chains whose truth is planned, each for truth_seconds after as long a run that is
/// not counted, and calls `finished` after each.
void check_plans(const RunSettings& settings,
                 const std::function<void(const PlanCheck&)>& finished);

/// The scores of a file, and how it was made.
struct HabitFile {
  truth::ScoreFile made;
  std::vector<HabitScore> scores;
};
/// Throws Error(usage) for a file that holds no scores of habits.
HabitFile load_habits(const std::string& file);

/// The built-in stages and the plugin's.
Registry habit_registry();

}  // namespace cachebisect::habits
