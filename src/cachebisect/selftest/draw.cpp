#include "cachebisect/selftest/draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/selftest/chain_law.hpp"

namespace cachebisect::selftest {
namespace {

constexpr double kMinDrop = 0.05;
constexpr double kClear = 1.10;           ///< one server this much slower than the next
constexpr double kSecondAtMost = 0.75;    ///< of the largest drop, where one is planted
constexpr double kCopyBandwidth = 0.1e9;  ///< a slow bus, so that a copy is planted by few bytes
constexpr double kSourceBytes = 64 + kLabelBytes;
constexpr int kTries = 1000;

struct DropRange {
  double least;
  double most;
};
constexpr std::array kDropClasses{DropRange{0.05, 0.07}, DropRange{0.10, 0.13},
                                  DropRange{0.20, 0.26}, DropRange{0.50, 0.60}};

class Drawing {
 public:
  Drawing(RandomStream& random, const DrawOptions& options) : random_(random), options_(options) {}

  /// False where this attempt did not become what it should.
  bool attempt(PlantedChain& out) {
    shape_ = pick_shape();
    planted_.clear();
    base(out.chain);
    if (!plant_shape(out.chain)) return false;
    if (options_.jitter && shape_ != Pattern::ramp && chance(0.5)) add_jitter(out.chain);
    if (hopeless(out.chain)) return false;
    auto truth = options_.simulated ? measure_truth(out.chain) : planned_truth(out.chain);
    if (!truth) return false;
    out.truth = std::move(*truth);
    out.truth.shape = shape_;
    out.truth.planted = planted_;
    out.truth.approximate = !options_.simulated && !leaves_cores_free(out, out.chain.cores);
    return as_it_should_be(out);
  }

 private:
  bool chance(double probability) { return random_.uniform() < probability; }

  Pattern pick_shape() {
    double u = random_.uniform();
    for (const auto& [shape, share] : {std::pair{Pattern::flat, options_.flat_share},
                                       std::pair{Pattern::two_drops, options_.two_drops_share},
                                       std::pair{Pattern::ramp, options_.ramp_share},
                                       std::pair{Pattern::contention, options_.contention_share}}) {
      if (u < share) return shape;
      u -= share;
    }
    return Pattern::drop;
  }

  double pick_drop() {
    if (!options_.drop_classes) return random_.uniform(options_.least_drop, options_.most_drop);
    const DropRange& range = kDropClasses[random_.below(kDropClasses.size())];
    return random_.uniform(range.least, range.most);
  }

  double pick_step() {
    const bool slow = options_.slow_step_share > 0 && chance(options_.slow_step_share);
    const double least = slow ? options_.most_step_seconds : options_.least_step_seconds;
    const double most = slow ? options_.slowest_step_seconds : options_.most_step_seconds;
    return least * std::pow(most / least, random_.uniform());
  }

  /// Everything but the planted stage: below half of the step's time together.
  void base(SimulatedChain& chain) {
    chain = {};
    const auto span = static_cast<std::uint64_t>(options_.most_stages - options_.least_stages + 1);
    const int n = options_.least_stages + static_cast<int>(random_.below(span));
    chain.batch_size = static_cast<std::int64_t>(8 << random_.below(3));
    chain.workers = std::array{0, 1, 2, 4}[random_.below(4)];
    chain.cores = options_.cores;
    chain.step_seconds = pick_step();
    step_ = chain.step_seconds / static_cast<double>(chain.batch_size);
    if (shape_ == Pattern::contention) {
      make_step_compute(chain, random_.uniform(0.6, 1));
      chain.workers = std::array{2, 4}[random_.below(2)];
    } else if (options_.simulated && chance(0.15)) {
      make_step_compute(chain, random_.uniform(0.3, 1));
      chain.cores = chain.workers + 1;
    }
    chain.copy_bytes_per_second = kCopyBandwidth;
    chain.source_bytes = kSourceBytes;
    add_stages(chain, n - 3);
  }

  static void make_step_compute(SimulatedChain& chain, double share) {
    chain.trainer_seconds = share * chain.step_seconds;
    chain.step_seconds -= chain.trainer_seconds;
  }

  /// The source, and `middle` stages that read, decode and augment.
  void add_stages(SimulatedChain& chain, int middle) {
    chain.stages = {{.name = "read",
                     .category = Category::read,
                     .kind = CostKind::payload,
                     .bytes = kSourceBytes}};
    const double room = 0.5 * step_ * std::max(1, std::min(chain.workers, chain.cores));
    const int reads = middle >= 3 ? 1 : 0;
    for (int i = 0; i < middle; ++i) {
      SimulatedStage stage;
      stage.kind = chance(0.5) ? CostKind::cpu : CostKind::wait;
      stage.category = i < reads    ? Category::read
                       : i == reads ? Category::decode
                                    : Category::augment;
      stage.seconds = room / middle * random_.uniform(0.02, 0.9);
      chain.stages.push_back(std::move(stage));
      name(chain, chain.stages.size() - 1);
    }
  }

  static void name(SimulatedChain& chain, std::size_t at) {
    auto& stage = chain.stages[at];
    stage.name = std::string(cachebisect::to_string(stage.kind)) + "_" + std::to_string(at + 1);
  }

  bool plant_shape(SimulatedChain& chain) {
    switch (shape_) {
      case Pattern::flat:
        return true;
      case Pattern::drop:
      case Pattern::contention:
        return plant(chain, pick_place(chain));
      case Pattern::two_drops:
        return plant_two(chain);
      case Pattern::ramp:
        return plant_ramp(chain);
    }
    return false;
  }

  /// A stage to plant (1-based), each category as likely as the others.
  int pick_place(const SimulatedChain& chain) {
    std::vector<Category> categories{Category::copy};
    if (options_.simulated) categories.push_back(Category::collate);
    for (std::size_t s = 1; s < chain.stages.size(); ++s) {
      const Category category = chain.stages[s].category;
      if (std::find(categories.begin(), categories.end(), category) == categories.end()) {
        categories.push_back(category);
      }
    }
    const Category category = categories[random_.below(categories.size())];
    if (category == Category::copy) return chain.boundaries();
    if (category == Category::collate) return chain.collate_boundary();
    std::vector<int> places;
    for (std::size_t s = 1; s < chain.stages.size(); ++s) {
      if (chain.stages[s].category == category) places.push_back(static_cast<int>(s) + 1);
    }
    return places[random_.below(places.size())];
  }

  /// Makes a stage cost so much that throughput from its boundary on falls by the drop drawn.
  bool plant(SimulatedChain& chain, int place) {
    const double after = predicted_seconds_per_sample(chain_law(chain, place));
    const double target = after / (1 - pick_drop());
    planted_ += planted_.empty() ? "" : "+";
    if (place == chain.boundaries()) return plant_copy(chain, target);
    double* cost = &chain.collate_seconds;
    if (place == chain.collate_boundary()) {
      planted_ += "collate";
    } else {
      const auto at = static_cast<std::size_t>(place) - 1;
      auto& stage = chain.stages[at];
      if (stage.kind == CostKind::payload) return false;
      stage.kind = pick_kind();
      name(chain, at);
      planted_ += cachebisect::to_string(stage.kind);
      cost = &stage.seconds;
    }
    // The law rises with the stage's cost: bisect for the target.
    double low = 0;
    double high = 8 * target * std::max(1, chain.workers);
    for (int i = 0; i < 60; ++i) {
      *cost = 0.5 * (low + high);
      const double tau = predicted_seconds_per_sample(chain_law(chain, place - 1));
      (tau < target ? low : high) = *cost;
    }
    return true;
  }

  CostKind pick_kind() {
    if (shape_ == Pattern::contention) return CostKind::cpu;
    static constexpr std::array kKinds{CostKind::cpu, CostKind::wait, CostKind::lock,
                                       CostKind::memory};
    return kKinds[random_.below(options_.simulated ? 4 : 3)];
  }

  bool plant_copy(SimulatedChain& chain, double target) {
    planted_ += "copy";
    const auto batch = static_cast<double>(chain.batch_size);
    const double bytes =
        std::floor((target * batch - chain.copy_latency_seconds) * kCopyBandwidth / batch);
    const std::size_t at = random_.below(chain.stages.size());
    auto& stage = chain.stages[at];
    stage.kind = CostKind::payload;
    stage.seconds = 0;
    stage.bytes = bytes;
    if (at == 0) {
      chain.source_bytes = bytes;
    } else {
      name(chain, at);
    }
    return true;
  }

  /// Downstream first: the upstream drop is on top of what the other has left.
  bool plant_two(SimulatedChain& chain) {
    std::array places{pick_place(chain), pick_place(chain)};
    if (places[0] == places[1]) return false;
    std::sort(places.rbegin(), places.rend());
    return plant(chain, places[0]) && plant(chain, places[1]);
  }

  /// One worker; the stage before collate fills the step's time, each one before it adds 3 to 4%.
  bool plant_ramp(SimulatedChain& chain) {
    const std::size_t count = chain.stages.size() - 1;
    if (count < 4) return false;
    chain.workers = 1;
    chain.cores = std::max(2, chain.cores);
    for (std::size_t s = 1; s <= count; ++s) {
      auto& stage = chain.stages[s];
      stage.kind = CostKind::cpu;
      stage.seconds = s == count ? 0.995 * step_ : step_ * random_.uniform(0.03, 0.04);
      name(chain, s);
    }
    return true;
  }

  void add_jitter(SimulatedChain& chain) {
    for (auto& stage : chain.stages) {
      stage.jitter.kind = random_.below(3) == 0 ? Jitter::Kind::pareto : Jitter::Kind::lognormal;
      stage.jitter.cv = random_.uniform(0.05, 0.5);
    }
  }

  /// By the law, which costs nothing, this cannot become what it should.
  [[nodiscard]] bool hopeless(const SimulatedChain& chain) const {
    std::vector<double> drops;
    const auto tau = [&](int k) { return predicted_seconds_per_sample(chain_law(chain, k)); };
    for (int k = 1; k <= chain.boundaries(); ++k) drops.push_back(1 - tau(k) / tau(k - 1));
    if (shape_ == Pattern::flat) return 1 - tau(chain.boundaries()) / tau(0) > kMinDrop;
    if (shape_ != Pattern::drop) return false;
    std::sort(drops.rbegin(), drops.rend());
    return drops[1] > 0.9 * drops[0];
  }

  [[nodiscard]] bool as_it_should_be(const PlantedChain& planted) const {
    const Truth& truth = planted.truth;
    auto drops = truth.drops;
    std::sort(drops.rbegin(), drops.rend());
    switch (shape_) {
      case Pattern::flat:
        return truth.loss < 0.4 * kMinDrop;
      case Pattern::ramp:
        return drops.front() < 0.9 * kMinDrop && truth.loss > 0.08;
      case Pattern::contention:
        return true;
      case Pattern::two_drops:
        break;
      case Pattern::drop:
        if (drops.size() > 1 && drops[1] > kSecondAtMost * drops.front()) return false;
        break;
    }
    const double least = options_.drop_classes ? kMinDrop : options_.least_drop;
    if (drops.front() < 0.98 * least) return false;
    return options_.simulated || law_margin(chain_law(planted.chain, truth.largest)) >= kClear;
  }

  RandomStream& random_;
  const DrawOptions& options_;
  Pattern shape_ = Pattern::flat;
  double step_ = 0;
  std::string planted_;
};

}  // namespace

DrawOptions corpus(bool simulated, int cores) {
  DrawOptions options;
  options.most_stages = 30;
  options.cores = cores;
  options.most_step_seconds = 10e-3;
  options.drop_classes = true;
  options.flat_share = 0.25;
  options.two_drops_share = 0.1;
  options.ramp_share = 0.05;
  options.jitter = true;
  options.simulated = simulated;
  if (simulated) {
    options.slow_step_share = 0.05;
    options.contention_share = 0.1;
  }
  return options;
}

PlantedChain draw(std::uint64_t seed, const DrawOptions& options) {
  if (options.least_stages < 3 || options.most_stages < options.least_stages) {
    throw Error(ErrorKind::usage, "planted chains have at least 3 stages: read, collate and copy");
  }
  RandomStream random({.seed = seed, .stage = hash_name("planted chain")});
  PlantedChain planted;
  planted.seed = seed;
  Drawing drawing(random, options);
  for (int i = 0; i < kTries; ++i) {
    if (drawing.attempt(planted)) return planted;
  }
  throw Error(ErrorKind::usage,
              "no chain fits these options: more stages or a wider range of drops");
}

}  // namespace cachebisect::selftest
