#include "bench/habits/real_chains.hpp"

#include <algorithm>
#include <array>

#include "bench/habits/sustained.hpp"

#include "cachebisect/base/random.hpp"

namespace cachebisect::habits {
namespace {

constexpr std::array kLosses{0.1, 0.2, 0.4};
constexpr double kRealShare = 0.4;      ///< of the workers' time that the real stages take
constexpr double kMinStepMs = 2;        ///< emulated
constexpr double kTuningStepMs = 0.05;  ///< short enough for the loader to be the limit
constexpr double kTuningSeconds = 3;
constexpr double kCopyGbPerS = 25;
constexpr double kCopyLatencyUs = 10;

constexpr std::array kPlaces{Category::read, Category::decode, Category::augment, Category::collate,
                             Category::copy};

struct DataSet {
  std::string name;
  std::vector<StageText> read_and_decode;
  std::vector<StageText> augment;
  std::vector<std::int64_t> batches;
  std::string train;  ///< on the cpu device; empty: only emulated
};

Members files(const std::string& path) {
  return {{"path", "${cache}/" + path}, {"if_missing", std::string("generate")}};
}

StageText normalize(const std::vector<double>& mean, const std::vector<double>& std) {
  return stage_text("augment.normalize", "normalize", {{"mean", mean}, {"std", std}});
}

std::vector<DataSet> make_data_sets() {
  return {
      {.name = "photos",
       .read_and_decode = {stage_text("read.image_folder", "storage", files("photos")),
                           stage_text("decode.image", "jpeg")},
       .augment = {stage_text("augment.random_resized_crop", "crop", {{"size", std::int64_t{224}}}),
                   stage_text("augment.horizontal_flip", "flip", {{"p", 0.5}}),
                   normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})},
       .batches = {4, 7, 8},
       .train = ""},
      {.name = "cifar",
       .read_and_decode = {stage_text("read.cifar10", "storage", files("cifar-10")),
                           stage_text("decode.cifar", "unpack")},
       .augment = {stage_text("augment.random_crop", "crop",
                              {{"size", std::int64_t{32}}, {"padding", std::int64_t{4}}}),
                   stage_text("augment.horizontal_flip", "flip", {{"p", 0.5}}),
                   stage_text("augment.color_jitter", "jitter",
                              {{"brightness", 0.2}, {"contrast", 0.2}, {"saturation", 0.2}}),
                   normalize({0.4914, 0.4822, 0.4465}, {0.247, 0.2435, 0.2616})},
       .batches = {50, 100, 128},
       .train = R"({"model": "lenet", "classes": 10, "loss": "cross_entropy"})"},
      {.name = "mnist",
       .read_and_decode = {stage_text("read.mnist", "storage", files("mnist")),
                           stage_text("decode.mnist", "unpack")},
       .augment = {stage_text("augment.to_float", "to_float")},
       .batches = {100, 200, 256},
       .train = R"({"model": "mlp", "classes": 10, "loss": "cross_entropy"})"}};
}

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets = make_data_sets();
  return sets;
}

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

/// Seconds per sample of the loop without the wait.
double measure(const std::string& habit, std::uint64_t seed, const RealCase& real,
               const Registry& registry) {
  const HabitChain chain = build(habit, seed, real, {.step_ms = kTuningStepMs, .wait_us = 1});
  return live_seconds_per_sample(pipeline_json(chain, false), kTuningSeconds, registry);
}

Tuning tune_real(const std::string& habit, std::uint64_t seed, const Registry& registry) {
  RealCase real = case_of(habit, seed);
  const auto batch = static_cast<double>(real.batch);
  const double workers = std::max(1, real.workers);
  Tuning tuning;
  double step = 0;  // seconds per sample of the loop that the wait slows down
  RealCase emulated = real;
  emulated.emulated = true;
  const double load = measure(habit, seed, emulated, registry);
  if (real.emulated) {
    tuning.step_ms = std::max(kMinStepMs, 1e3 * batch * load / kRealShare);
    step = 1e-3 * tuning.step_ms / batch;
  } else {
    step = measure(habit, seed, real, registry);
  }
  const double slower = step / (1 - real.loss);
  if (real.place == Category::copy) {
    tuning.wait_us = 1e6 * batch * slower;
  } else if (!real.emulated && real.workers == 0) {
    tuning.wait_us = 1e6 * (slower - step);
  } else {
    tuning.wait_us = 1e6 * workers * (slower - load);
  }
  return tuning;
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
