// Habits of the device, next to a steady stage of known cost.
#include <cmath>
#include <utility>

#include "bench/habits/chain_draw.hpp"
#include "bench/habits/habits.hpp"

namespace cachebisect::habits {
namespace {

/// A steady stage that makes the live loop lose `loss` of the throughput of the drawn step.
void plant_steady(ChainDraw& draw, double loss) {
  const double seconds = draw.worker_seconds(loss);
  draw.plant({.name = "tokenize",
              .category = Category::augment,
              .kind = CostKind::wait,
              .seconds = seconds},
             habit_text("synthetic.wait", "tokenize", {{"us", 1e6 * seconds}}, {{"us", 0.0}}));
}

/// Odd seeds: launching takes as long as the drawn step, and its work less. Even seeds: the work
/// takes as long as the drawn step, and its launches fill the queue several times.
HabitChain launch_bound(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {.workers = {1, 2, 3, 4}});
  plant_steady(draw, draw.random().uniform(0.15, 0.6));
  const double step = draw.step_seconds();
  const double launch = draw.random().uniform(4e-6, 12e-6);
  const bool full = seed % 2 == 0;
  const double share = full ? draw.random().uniform(0.2, 0.5) : 1;  ///< of the step, for launching
  const double work = full ? 1 : draw.random().uniform(0.3, 0.9);   ///< of the step
  const auto launches = static_cast<std::int64_t>(std::ceil(share * step / launch));
  const auto queue =
      full ? launches / static_cast<std::int64_t>(2 + draw.random().below(7)) : std::int64_t{1024};
  draw.set_emulate({{"step_ms", 1e3 * work * step},
                    {"launches", launches},
                    {"launch_us", 1e6 * share * step / static_cast<double>(launches)},
                    {"launch_queue", queue}});
  HabitChain chain = draw.finish();
  chain.measured = true;  // whatever else the training thread does counts too
  return chain;
}

/// The drawn step is that at full load: the clock of the live loop, which waits for its input, is
/// higher.
HabitChain with_falling_clock(ChainDraw& draw, double drop) {
  draw.set_emulate({{"step_ms", 1e3 * (1 - drop) * draw.step_seconds()}, {"clock_drop", drop}});
  return draw.finish();
}

double draw_clock_drop(ChainDraw& draw) { return draw.random().uniform(0.05, 0.3); }

HabitChain falling_clock(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {});
  plant_steady(draw, draw.random().uniform(0.15, 0.6));
  return with_falling_clock(draw, draw_clock_drop(draw));
}

/// The loader is slower than the step of a device that comes out of a rest, and faster than that of
/// a busy one.
HabitChain falling_clock_flat(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {});
  const double drop = draw_clock_drop(draw);
  const double share = 1 - drop * draw.random().uniform(0.2, 0.8);  ///< of the drawn step
  plant_steady(draw, 1 - 1 / share);
  return with_falling_clock(draw, drop);
}

}  // namespace

std::vector<Habit> device_habits() {
  return {
      {"launch-bound", "launching takes longer than the work, or fills the queue", launch_bound},
      {"falling-clock", "the device's clock falls by 5 to 30% under load", falling_clock},
      {"falling-clock-flat", "the same, and the loader keeps up with the lower clock",
       falling_clock_flat}};
}

}  // namespace cachebisect::habits
