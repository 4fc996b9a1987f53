// Habits of stages that share locks, threads and memory, or do what no stage may do.
#include "bench/habits/chain_draw.hpp"
#include "bench/habits/habits.hpp"

namespace cachebisect::habits {
namespace {

/// Items that do not fit the processor's caches: made by one stage, reduced by the next. What that
/// costs depends on the machine.
HabitChain dram_items(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed,
                 {.workers = {1, 2},
                  .min_batch = 24,
                  .max_batch = 100,
                  .min_step_seconds = 4e-3,
                  .max_step_seconds = 6e-3,
                  .innocents = false});
  const auto bytes = static_cast<std::int64_t>(draw.random().uniform(1e6, 3e6));
  constexpr double kGuess = 200e-6;  ///< seconds; the truth is measured
  draw.plant({.name = "expand", .category = Category::decode, .seconds = kGuess},
             {.name = "expand",
              .json = stage_text("habit.expand", "expand", {{"bytes", bytes}}).json,
              .without = ""},
             Place::first);
  draw.plant(
      {.name = "reduce", .category = Category::augment, .seconds = kGuess},
      {.name = "reduce",
       .json = stage_text("habit.sum", "reduce").json,
       .without = stage_text("synthetic.payload", "reduce", {{"bytes", std::int64_t{8}}}).json},
      Place::first);
  HabitChain chain = draw.finish();
  chain.measured = true;
  return chain;
}

HabitChain thread_pool(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {.workers = {0, 1, 2}});
  const double seconds = draw.draw_worker_seconds(0.15, 0.6);
  const auto threads = static_cast<std::int64_t>(2 + draw.random().below(3));
  // On cores only if they can be shared: the pool's threads compete with each other.
  const std::string kind = threads == 2 ? draw.draw_kind() : "wait";
  draw.plant(
      {.name = "resize", .category = Category::augment, .kind = CostKind::wait, .seconds = seconds},
      habit_text("habit.pool", "resize",
                 {{"us", 1e6 * seconds * static_cast<double>(threads)},
                  {"threads", threads},
                  {"spends", kind}},
                 {{"us", 0.0}}),
      Place::first);
  HabitChain chain = draw.finish();
  chain.measured = true;
  return chain;
}

HabitChain shared_lock(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {.workers = {2, 3, 4}});
  const double loss = draw.random().uniform(0.15, 0.6);
  const double seconds = draw.step_per_sample() / (1 - loss);
  const std::string kind = draw.random().below(2) == 0 ? "cpu" : "wait";
  draw.plant(
      {.name = "lookup", .category = Category::augment, .kind = CostKind::lock, .seconds = seconds},
      habit_text("habit.shared_lock", "lookup", {{"us", 1e6 * seconds}, {"spends", kind}},
                 {{"us", 0.0}}),
      Place::first);
  HabitChain chain = draw.finish();
  chain.measured = true;
  chain.uses_workers = false;
  return chain;
}

/// The stage before it makes bytes of its own, so that they can be written.
HabitChain writes_input(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {});
  const double seconds = draw.draw_worker_seconds(0.15, 0.6);
  constexpr std::int64_t kBytes = 4096;
  draw.plant({.name = "inflate", .category = Category::decode},
             stage_text("habit.expand", "inflate", {{"bytes", kBytes}}), Place::first);
  draw.plant({.name = "in_place",
              .category = Category::augment,
              .kind = CostKind::wait,
              .seconds = seconds},
             habit_text("habit.write_input", "in_place", {{"us", 1e6 * seconds}}, {{"us", 0.0}}),
             Place::first);
  HabitChain chain = draw.finish();
  chain.first = chain.last;
  chain.forbidden = true;
  return chain;
}

}  // namespace

std::vector<Habit> sharing_habits() {
  return {{"dram-items", "items of 1 to 3 MB, expanded by one stage and summed by the next",
           dram_items},
          {"thread-pool", "work on a thread pool inside the stage", thread_pool},
          {"shared-lock", "a mutex that all workers share", shared_lock},
          {"writes-input", "a stage that writes its input", writes_input}};
}

}  // namespace cachebisect::habits
