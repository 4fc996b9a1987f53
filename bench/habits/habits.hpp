// The habits of real stages that planted chains do not have, each drawn by seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/habits/chain.hpp"
#include "bench/habits/truth.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::habits {

/// What a draw needs besides the seed.
struct DrawContext {
  std::string folder;  ///< for what stages keep from run to run
  Tuning tuning;
};

struct Habit {
  std::string name;
  std::string doc;  ///< one line
  /// Equal arguments give equal chains.
  HabitChain (*draw)(const std::string& habit, std::uint64_t seed, const DrawContext& context);
  /// Fits the chain to this machine. Null: it needs no tuning.
  Tuning (*tune)(const std::string& habit, std::uint64_t seed, const Registry& registry) = nullptr;
  bool simulates = false;  ///< its planned costs are all of it: it can run in virtual time too
};

/// Every habit, in the order of the published table.
const std::vector<Habit>& all_habits();
/// One of `habits`. Throws Error(usage) that names the nearest one.
const Habit& habit_named(const std::string& name, const std::vector<Habit>& habits);

/// Parts of the list, by source.
std::vector<Habit> varying_habits();      ///< costs that vary from sample to sample or in time
std::vector<Habit> remembering_habits();  ///< first visits, and storage that knows them
std::vector<Habit> sharing_habits();      ///< locks, threads, memory, and what stages may not do
std::vector<Habit> device_habits();       ///< of the device: launches, and a clock that falls

}  // namespace cachebisect::habits
