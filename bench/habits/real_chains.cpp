#include "bench/habits/real_chains.hpp"

#include <algorithm>
#include <array>

#include "bench/habits/data_sets.hpp"
#include "bench/habits/sustained.hpp"

#include "cachebisect/base/random.hpp"

namespace cachebisect::habits {
namespace {

constexpr std::array kLosses{0.1, 0.2, 0.4};
constexpr double kRealShare = 0.4;      ///< of the workers' time that the real stages take
constexpr double kMinStepMs = 2;        ///< emulated
constexpr double kTuningStepMs = 0.05;  ///< short enough for the loader to be the limit
constexpr double kTuningSeconds = 2;
constexpr double kCopyGbPerS = 25;
constexpr double kCopyLatencyUs = 10;

constexpr std::array kPlaces{Category::read, Category::decode, Category::augment, Category::collate,
                             Category::copy};

/// What the name and the seed of a real chain stand for.
struct RealCase {
  const DataSet* data = nullptr;
  bool emulated = true;
  Category place = Category::read;
  double loss = 0;
  std::int64_t batch = 0;
  int workers = 0;
};

RealCase case_of(const std::string& habit, std::uint64_t seed) {
  RealCase real;
  real.emulated = !habit.ends_with("-cpu");
  for (const DataSet& data : data_sets()) {
    if (habit.starts_with("real-" + data.name)) real.data = &data;
  }
  const std::size_t places = real.emulated ? kPlaces.size() : kPlaces.size() - 1;
  const std::size_t number = (seed - 1) % (places * kLosses.size());
  real.place = kPlaces[number % places];
  real.loss = kLosses[number / places];
  RandomStream random({.seed = seed, .stage = hash_name(habit)});
  const auto& batches = real.data->batches;
  real.batch = batches[static_cast<std::size_t>(random.below(batches.size()))];
  // A model that trains on the cpu needs a core of its own.
  real.workers = static_cast<int>(random.below(real.emulated ? 3 : 2));
  return real;
}

/// Where the wait goes, as an index into the stages without it.
std::size_t place_of(const RealCase& real) {
  const std::size_t read = 1;
  const std::size_t decode = real.data->read_and_decode.size();
  const std::size_t collate = decode + real.data->augment.size() + 1;
  switch (real.place) {
    case Category::read:
      return read;
    case Category::decode:
      return decode;
    case Category::collate:
      return collate;
    default:
      return collate - 1;
  }
}

/// Names and categories of the stages up to the one before collate (a wait after it counts as one).
void describe_stages(const RealCase& real, HabitChain& chain) {
  const std::size_t decode = real.data->read_and_decode.size();
  for (std::size_t s = 0; s + 2 < chain.stages.size(); ++s) {
    const bool collates = chain.stages[s].name == "collate";
    const Category category = s == 0       ? Category::read
                              : collates   ? Category::collate
                              : s < decode ? Category::decode
                                           : Category::augment;
    chain.planted.chain.stages.push_back({.name = chain.stages[s].name, .category = category});
  }
  if (real.place == Category::copy) return;
  const auto delay = static_cast<std::size_t>(chain.first) - 1;
  if (delay < chain.planted.chain.stages.size()) {
    chain.planted.chain.stages[delay].category = real.place;
  }
}

void add_wait(const RealCase& real, const Tuning& tuning, HabitChain& chain) {
  if (real.place == Category::copy) {
    chain.first = static_cast<int>(chain.stages.size());
    chain.uses_workers = false;
  } else {
    const bool batched = real.place == Category::collate;
    StageText wait = stage_text(batched ? "habit.batch_wait" : "synthetic.wait", "delay",
                                {{"us", tuning.wait_us}});
    wait.without.clear();
    const std::size_t at = place_of(real);
    chain.stages.insert(chain.stages.begin() + static_cast<std::ptrdiff_t>(at), std::move(wait));
    chain.first = static_cast<int>(at) + 1;
  }
  chain.last = chain.first;
}

std::string emulate_text(double step_ms, double latency_us) {
  return object_of(
      {{"step_ms", step_ms}, {"copy_gb_per_s", kCopyGbPerS}, {"copy_latency_us", latency_us}});
}

HabitChain build(const std::string& habit, std::uint64_t seed, const RealCase& real,
                 const Tuning& tuning) {
  HabitChain chain;
  chain.habit = habit;
  chain.planted.seed = seed;
  chain.measured = true;
  chain.stages = real.data->read_and_decode;
  chain.stages.insert(chain.stages.end(), real.data->augment.begin(), real.data->augment.end());
  chain.stages.push_back(stage_text("collate.stack", "collate", {{"layout", std::string("NCHW")}}));
  chain.stages.push_back(stage_text("copy.device", "copy"));
  add_wait(real, tuning, chain);
  chain.settings = {{"batch_size", real.batch}, {"workers", std::int64_t{real.workers}}};
  if (real.emulated) {
    const double latency = real.place == Category::copy ? tuning.wait_us : kCopyLatencyUs;
    chain.emulate = emulate_text(tuning.step_ms, latency);
    chain.emulate_without = emulate_text(tuning.step_ms, kCopyLatencyUs);
  } else {
    chain.train = real.data->train;
  }
  describe_stages(real, chain);
  chain.planted.chain.batch_size = real.batch;
  chain.planted.chain.workers = real.workers;
  return chain;
}

HabitChain draw_real(const std::string& habit, std::uint64_t seed, const DrawContext& context) {
  return build(habit, seed, case_of(habit, seed), context.tuning);
}

/// Measures a chain to fit its wait and its step.
class Tuner {
 public:
  Tuner(const std::string& habit, std::uint64_t seed, const Registry& registry)
      : habit_(habit), seed_(seed), registry_(registry), real_(case_of(habit, seed)) {}

  Tuning tune() const {
    const auto batch = static_cast<double>(real_.batch);
    const double load = load_seconds(0);
    Tuning tuning;
    if (real_.emulated) {
      tuning.step_ms = std::max(kMinStepMs, 1e3 * batch * load / kRealShare);
      const double slower = 1e-3 * tuning.step_ms / batch / (1 - real_.loss);
      tuning.wait_us = 1e6 * (real_.place == Category::copy ? batch * slower : wait(slower, load));
      return tuning;
    }
    const double step = loop_seconds(real_, {});
    const double slower = step / (1 - real_.loss);
    tuning.wait_us = 1e6 * (real_.workers == 0 ? slower - step : workers() * (slower - load));
    return tuning;
  }

 private:
  [[nodiscard]] double workers() const { return std::max(1, real_.workers); }

  /// The wait per sample with which the loader takes `target` seconds per sample, corrected once by
  /// what it takes then.
  [[nodiscard]] double wait(double target, double load) const {
    const double guess = workers() * (target - load);
    return guess + workers() * (target - load_seconds(1e6 * guess));
  }
  /// Seconds per sample of the loader alone, with a wait in place.
  [[nodiscard]] double load_seconds(double wait_us) const {
    RealCase emulated = real_;
    emulated.emulated = true;
    return loop_seconds(emulated, {.step_ms = kTuningStepMs, .wait_us = wait_us});
  }
  [[nodiscard]] double loop_seconds(const RealCase& real, const Tuning& tuning) const {
    const HabitChain chain = build(habit_, seed_, real, tuning);
    return sustained_seconds_per_sample(pipeline_json(chain, tuning.wait_us > 0), kTuningSeconds,
                                        registry_);
  }

  const std::string& habit_;
  std::uint64_t seed_;
  const Registry& registry_;
  RealCase real_;
};

Tuning tune_real(const std::string& habit, std::uint64_t seed, const Registry& registry) {
  return Tuner(habit, seed, registry).tune();
}

}  // namespace

const std::vector<Habit>& real_chains() {
  static const std::vector<Habit> chains = [] {
    std::vector<Habit> all;
    for (const DataSet& data : data_sets()) {
      all.push_back(
          {"real-" + data.name, data.name + " files, the device emulated", draw_real, tune_real});
    }
    for (const DataSet& data : data_sets()) {
      if (data.train.empty()) continue;
      all.push_back({"real-" + data.name + "-cpu", data.name + " files, a model on the cpu",
                     draw_real, tune_real});
    }
    return all;
  }();
  return chains;
}

}  // namespace cachebisect::habits
