// Habits whose cost varies: by draw, by content, in stalls, in time.
#include <algorithm>
#include <memory>

#include "bench/habits/chain_draw.hpp"
#include "bench/habits/habits.hpp"
#include "bench/habits/plan.hpp"
#include "bench/habits/stages/sample_costs.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/sampler.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect::habits {
namespace {

constexpr std::uint64_t kPeriod = 16'384;  ///< samples over which planned shares are exact
constexpr std::uint64_t kStallStream = 0x15FAE2ADF84183A8ULL;  ///< that of the published table
constexpr double kContentCv = 0.6;
constexpr double kWideContentCv = 1;

/// 1 / share for that share of any kPeriod samples in random order, 0 for the others.
std::function<double(std::uint64_t)> rare_factor(double share, std::uint64_t seed) {
  const double chosen = share * kPeriod;
  return [order = Sampler(kPeriod, seed, true), chosen](std::uint64_t index) {
    const auto cell = static_cast<double>(order.index(index / kPeriod, index % kPeriod).value);
    return cell < chosen ? kPeriod / chosen : 0.0;
  };
}

HabitChain draw_rare(const std::string& habit, std::uint64_t seed, double share,
                     const std::string& by, const Members& settings) {
  ChainDraw draw(habit, seed, {});
  const double seconds = draw.draw_worker_seconds(0.15, 0.65);
  draw.plant(
      {.name = "deform",
       .category = Category::augment,
       .kind = CostKind::wait,
       .seconds = seconds,
       .factor = rare_factor(share, seed)},
      habit_text("habit.rare", "deform",
                 {{"ms", 1e3 * seconds / share}, {"share", share}, {"by", by}}, {{"ms", 0.0}}));
  HabitChain chain = draw.finish();
  chain.settings.insert(chain.settings.end(), settings.begin(), settings.end());
  return chain;
}

HabitChain rare_costly(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  return draw_rare(habit, seed, 0.1, "draw", {});
}

HabitChain slow_sample(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  return draw_rare(habit, seed, 0.01, "index", {});
}

/// Workers that take whole batches each have one slow sample to wait for: no law gives the truth.
HabitChain slow_sample_batch(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  HabitChain chain = draw_rare(habit, seed, 0.01, "index", {{"loader", std::string("batch")}});
  chain.planted.chain.loader = LoaderKind::batch;
  chain.measured = true;
  return chain;
}

void plant_content(ChainDraw& draw, double seconds, double cv, std::uint64_t seed) {
  const auto factors = std::make_shared<const ContentFactors>(cv, seed);
  const std::string kind = draw.draw_kind();
  draw.plant({.name = "parse",
              .category = Category::decode,
              .kind = kind == "cpu" ? CostKind::cpu : CostKind::wait,
              .seconds = seconds,
              .factor = [factors](std::uint64_t index) { return factors->of(index); }},
             habit_text("habit.content", "parse",
                        {{"us", 1e6 * seconds},
                         {"cv", cv},
                         {"variant", static_cast<std::int64_t>(seed)},
                         {"spends", kind}},
                        {{"us", 0.0}}));
}

HabitChain content(const std::string& habit, std::uint64_t seed, double cv) {
  ChainDraw draw(habit, seed, {});
  plant_content(draw, draw.draw_worker_seconds(0.15, 0.65), cv, seed);
  return draw.finish();
}

HabitChain content_narrow(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  return content(habit, seed, kContentCv);
}

HabitChain content_wide(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  return content(habit, seed, kWideContentCv);
}

/// With more than two workers, a faster steady stage would hide the stalls.
HabitChain stall_next_to_steady(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed,
                 {.workers = {0, 1, 2}, .max_samples_per_second = 8000, .stream = kStallStream});
  const double steady = draw.worker_seconds(0.08);
  draw.add(
      {.name = "steady", .category = Category::augment, .kind = CostKind::wait, .seconds = steady},
      stage_text("synthetic.wait", "steady", {{"us", 1e6 * steady}}));
  const double stall = draw.random().uniform(80e-3, 160e-3);
  // Stalls take about half of the time of a loop that nothing else slows down.
  const double apart = stall / draw.step_per_sample() * draw.random().uniform(0.7, 1.2);
  const auto every = static_cast<std::uint64_t>(apart) | 1U;
  const auto count = static_cast<double>(every);
  draw.plant(
      {.name = "fetch_shard",
       .category = Category::augment,
       .kind = CostKind::wait,
       .seconds = stall / count,
       .factor = [every,
                  count](std::uint64_t index) { return index % every == every - 1 ? count : 0.0; }},
      habit_text("habit.stall", "fetch_shard",
                 {{"ms", 1e3 * stall}, {"every", static_cast<std::int64_t>(every)}},
                 {{"ms", 0.0}}));
  return draw.finish();
}

/// A loader 5% faster than the step, with a ring deep enough to hide how much its costs vary.
HabitChain slack_loader(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  constexpr double kSlack = -0.05;
  constexpr double kHidden = 0.005;  ///< loss of a ring that is deep enough
  const double cv = seed % 2 == 0 ? kContentCv : kWideContentCv;
  const DrawLimits limits{.workers = {1, 2, 3, 4}, .min_batch = 8};
  for (int prefetch = 8; prefetch <= settings::kPrefetch.max; prefetch *= 2) {
    ChainDraw draw(habit, seed, limits);
    draw.set_prefetch(prefetch);
    plant_content(draw, draw.worker_seconds(kSlack), cv, seed);
    HabitChain chain = draw.finish();
    if (planned_loss(chain) < kHidden) return chain;
  }
  throw Error(ErrorKind::internal, habit + ", seed " + std::to_string(seed) +
                                       ": the deepest ring does not hide the variance");
}

HabitChain mid_run_change(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {});
  const double seconds = draw.draw_worker_seconds(0.15, 0.4);
  const double after = draw.random().uniform(3, 20);
  draw.plant({.name = "resample",
              .category = Category::augment,
              .kind = CostKind::wait,
              .seconds = seconds},
             habit_text("habit.change", "resample",
                        {{"us", 1e6 * seconds}, {"factor", 2.0}, {"after_seconds", after}},
                        {{"us", 0.0}}));
  HabitChain chain = draw.finish();
  chain.grows_to = 2;
  return chain;
}

/// Damaged samples are replaced; nothing is upstream of the stage that rejects them but the source.
HabitChain damaged_samples(const std::string& habit, std::uint64_t seed, const DrawContext&) {
  ChainDraw draw(habit, seed, {});
  const double seconds = draw.draw_worker_seconds(0.15, 0.6);
  draw.plant({.name = "decode_damaged",
              .category = Category::decode,
              .kind = CostKind::wait,
              .seconds = seconds},
             habit_text("habit.damaged", "decode_damaged",
                        {{"us", 1e6 * seconds},
                         {"share", 0.02},
                         {"variant", static_cast<std::int64_t>(seed)},
                         {"on_error", std::string("skip")}},
                        {{"us", 0.0}}),
             Place::first);
  return draw.finish();
}

bool knows_loaders() {
  return std::ranges::find(settings::kKeys, "loader") != settings::kKeys.end();
}

}  // namespace

std::vector<Habit> varying_habits() {
  std::vector<Habit> habits{
      {"rare-costly", "one sample in ten is costly, by draw", rare_costly, nullptr, true},
      {"content-cv0.6", "the cost depends on the sample's content, cv 0.6", content_narrow, nullptr,
       true},
      {"content-cv1", "the cost depends on the sample's content, cv 1", content_wide, nullptr,
       true},
      {"slow-sample", "one sample in a hundred is slow, by index", slow_sample, nullptr, true},
      {"stalls-next-to-steady", "rare stalls, and a steady stage of 8%", stall_next_to_steady,
       nullptr, true},
      {"slack-loader", "5% faster than the step, its variance hidden by a deep ring", slack_loader,
       nullptr, true},
      {"mid-run-change", "the cost doubles some seconds after the start", mid_run_change},
      {"damaged-samples", "2% of the samples are damaged and skipped", damaged_samples}};
  if (knows_loaders()) {
    habits.push_back({"slow-sample-batch",
                      "one sample in a hundred is slow; each worker fills a batch",
                      slow_sample_batch, nullptr, true});
  }
  return habits;
}

}  // namespace cachebisect::habits
