// Habits of stages and storage that know what they have seen.
#include "bench/habits/chain_draw.hpp"
#include "bench/habits/habits.hpp"

namespace cachebisect::habits {
namespace {

constexpr double kAgainUs = 5;  ///< cost of a sample's later visits

/// Data sets that no run reads through: the second visits are the tool's own.
DrawLimits many_samples() {
  return {.max_samples_per_second = 8000, .min_samples = 1'000'000, .max_samples = 2'000'000};
}

HabitChain draw_remember(const std::string& habit, std::uint64_t seed, const std::string& use) {
  ChainDraw draw(habit, seed, many_samples());
  const double seconds = draw.draw_worker_seconds(0.15, 0.7);
  draw.plant(
      {.name = "tokenize",
       .category = Category::decode,
       .kind = CostKind::wait,
       .seconds = seconds},
      habit_text(use, "tokenize",
                 {{"us", 1e6 * seconds}, {"again_us", kAgainUs}, {"samples", draw.samples()}},
                 {{"us", 0.0}, {"again_us", 0.0}}));
  return draw.finish();
}

HabitChain remembers(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  return draw_remember(habit, seed, "habit.remember");
}

HabitChain remembers_declared(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  return draw_remember(habit, seed, "habit.remember_declared");
}

/// Half of the chains have a steady drop as well.
HabitChain first_use(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {});
  if (draw.random().below(2) == 0) {
    const double steady = draw.draw_worker_seconds(0.15, 0.5);
    draw.add({.name = "steady",
              .category = Category::augment,
              .kind = CostKind::wait,
              .seconds = steady},
             stage_text("synthetic.wait", "steady", {{"us", 1e6 * steady}}));
  }
  draw.plant({.name = "codec", .category = Category::decode, .kind = CostKind::wait},
             habit_text("habit.first_use", "codec", {{"ms", draw.random().uniform(100, 500)}},
                        {{"ms", 0.0}}));
  return draw.finish();
}

HabitChain draw_page_cache(const std::string& habit, std::uint64_t seed, const std::string& file) {
  ChainDraw draw(habit, seed, many_samples());
  const double seconds = draw.draw_worker_seconds(0.15, 0.7);
  Members members{{"us", 1e6 * seconds},
                  {"again_us", kAgainUs},
                  {"bytes", draw.item_bytes()},
                  {"samples", draw.samples()}};
  if (!file.empty()) members.emplace_back("state_file", file);
  draw.set_source(
      {.name = "storage", .category = Category::read, .kind = CostKind::wait, .seconds = seconds},
      habit_text("habit.page_cache", "storage", members, {{"us", 0.0}, {"again_us", 0.0}}));
  return draw.finish();
}

HabitChain page_cache(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  return draw_page_cache(habit, seed, "");
}

HabitChain second_run(const std::string& habit, std::uint64_t seed, const DrawContext& context) {
  constexpr double kEarlierSeconds = 5;
  HabitChain chain =
      draw_page_cache(habit, seed, context.folder + "/page-cache-" + std::to_string(seed));
  chain.earlier_seconds = kEarlierSeconds;
  return chain;
}

HabitChain burst_credits(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  // A single worker would not overlap its own work with the storage's, as a lock does in the plan.
  ChainDraw draw(habit, seed,
                 {.workers = {2, 3, 4}, .min_samples = 1'000'000, .max_samples = 2'000'000});
  const double loss = draw.random().uniform(0.3, 0.9);
  const double per_second = (1 - loss) / draw.step_per_sample();
  // Spent after so many seconds of live: what outlasts the run in one piece cannot be seen.
  const double credits = draw.random().uniform(0.5, 6) * loss / draw.step_per_sample();
  draw.set_source({.name = "storage",
                   .category = Category::read,
                   .kind = CostKind::lock,
                   .seconds = 1 / per_second},
                  habit_text("habit.credits", "storage",
                             {{"credits", credits},
                              {"per_second", per_second},
                              {"bytes", draw.item_bytes()},
                              {"samples", draw.samples()}},
                             {{"per_second", 1e12}}));
  HabitChain chain = draw.finish();
  chain.uses_workers = false;
  return chain;
}

HabitChain read_ahead(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {.workers = {2, 3, 4}});
  const double loss = draw.random().uniform(0.15, 0.7);
  const double seconds = draw.step_per_sample() / (1 - loss);
  const auto ahead = static_cast<std::int64_t>(200 + draw.random().below(4'800));
  draw.set_source(
      {.name = "storage", .category = Category::read, .kind = CostKind::lock, .seconds = seconds},
      habit_text("habit.read_ahead", "storage",
                 {{"us", 1e6 * seconds},
                  {"ahead", ahead},
                  {"bytes", draw.item_bytes()},
                  {"samples", draw.samples()}},
                 {{"us", 0.0}}));
  HabitChain chain = draw.finish();
  chain.uses_workers = false;
  return chain;
}

}  // namespace

std::vector<Habit> remembering_habits() {
  return {{"remembers-declared", "costly at a sample's first visit; declares its state",
           remembers_declared},
          {"remembers-undeclared", "costly at a sample's first visit; declares nothing", remembers},
          {"first-use", "lazy initialisation on each thread, in half of the chains next to a drop",
           first_use},
          {"burst-credits", "storage that is fast until its credits are spent", burst_credits},
          {"page-cache", "storage whose second read of a sample is fast", page_cache},
          {"page-cache-second-run", "the same, after an earlier run of the tool", second_run},
          {"read-ahead", "a storage client that fetches ahead while other arms run", read_ahead}};
}

}  // namespace cachebisect::habits
