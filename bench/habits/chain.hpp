// A chain of the corpus of habits: its stages as the pipeline file writes them, and their costs by
// plan.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/pipeline/params.hpp"
#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::habits {

/// The members of a JSON object.
using Members = std::vector<std::pair<std::string, ParamValue>>;
/// A JSON object on one line.
std::string object_of(const Members& members);

/// A stage as the pipeline file writes it.
struct StageText {
  std::string name;
  std::string json;
  /// The same stage at no cost: equal to `json` if the habit is another stage's. Empty: a chain
  /// without the habit does not have this stage.
  std::string without;
};

/// A stage that costs the same with and without the habit.
StageText stage_text(const std::string& use, const std::string& name, const Members& members = {});
/// A stage with the habit; `free` replaces some of its members when it is at no cost.
StageText habit_text(const std::string& use, const std::string& name, const Members& members,
                     const Members& free);

struct HabitChain {
  std::string habit;
  /// Costs by plan; the stages are those before collate, and those after it that wait. Its truth is
  /// planned or measured later.
  selftest::PlantedChain planted;
  std::vector<StageText> stages;  ///< from the source to the copy
  Members settings;               ///< of the pipeline file: batch_size, workers, ...
  std::string train = R"({"kind": "emulated"})";
  std::string emulate;          ///< empty: the device is the cpu
  std::string emulate_without;  ///< without the habit; empty: the same
  int first = 1;                ///< stages with the habit (1-based) ...
  int last = 1;                 ///< ... all in a row
  bool uses_workers = true;     ///< it costs the workers' time; false: a serial section, the copy
  bool measured = false;        ///< no plan gives its truth
  bool forbidden = false;       ///< no stage may have the habit: an error that names it is right
  double grows_to = 1;          ///< its cost changes to this many times the planned one
  double earlier_seconds = 0;   ///< of another run of the tool before the one that is judged
};

/// The pipeline file of a chain, with the habit or without it.
std::string pipeline_json(const HabitChain& chain, bool with_habit = true);

}  // namespace cachebisect::habits
