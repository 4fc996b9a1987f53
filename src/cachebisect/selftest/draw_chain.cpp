#include "cachebisect/selftest/draw_chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cachebisect/selftest/chain_law.hpp"

namespace cachebisect::selftest {
namespace {

constexpr double kCopyBandwidth = 0.1e9;  ///< a slow bus, so that few bytes plant a copy
constexpr double kSourceBytes = 64 + kLabelBytes;

struct DropRange {
  double min;
  double max;
};
constexpr std::array kDropClasses{DropRange{0.05, 0.07}, DropRange{0.10, 0.13},
                                  DropRange{0.20, 0.26}, DropRange{0.50, 0.60}};

class ChainDraw {
 public:
  ChainDraw(RandomStream& random, const DrawOptions& options)
      : random_(random), options_(options) {}

  std::optional<DrawnChain> draw() {
    drawn_.shape = pick_shape();
    draw_base(drawn_.chain);
    if (!plant_shape(drawn_.chain)) return std::nullopt;
    if (options_.jitter && drawn_.shape != Pattern::ramp && chance(0.5)) add_jitter(drawn_.chain);
    return std::move(drawn_);
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
    if (!options_.drop_classes) return random_.uniform(options_.min_drop, options_.max_drop);
    const DropRange& range = kDropClasses[random_.below(kDropClasses.size())];
    return random_.uniform(range.min, range.max);
  }

  double pick_step() {
    const bool slow = options_.slow_step_share > 0 && chance(options_.slow_step_share);
    const double min = slow ? options_.max_step_seconds : options_.min_step_seconds;
    const double max = slow ? options_.slowest_step_seconds : options_.max_step_seconds;
    return min * std::pow(max / min, random_.uniform());
  }

  /// Everything but the planted stage: in all, less than half of the step's time.
  void draw_base(SimulatedChain& chain) {
    const auto span = static_cast<std::uint64_t>(options_.max_stages - options_.min_stages + 1);
    const int n = options_.min_stages + static_cast<int>(random_.below(span));
    chain.batch_size = static_cast<std::int64_t>(8 << random_.below(3));
    chain.workers = std::array{0, 1, 2, 4}[random_.below(4)];
    chain.cores = options_.cores;
    chain.step_seconds = pick_step();
    step_ = chain.step_seconds / static_cast<double>(chain.batch_size);
    if (drawn_.shape == Pattern::contention) {
      make_step_compute(chain, random_.uniform(0.6, 1));
      chain.workers = std::array{2, 4}[random_.below(2)];
    } else if (options_.simulated && chance(0.15)) {
      make_step_compute(chain, random_.uniform(0.3, 1));
      chain.cores = chain.workers + 1;
    }
    if (options_.batch_loader_share > 0 && chain.workers > 1 &&
        chance(options_.batch_loader_share)) {
      chain.loader = LoaderKind::batch;
    }
    chain.copy_bytes_per_second = kCopyBandwidth;
    chain.source_bytes = kSourceBytes;
    add_stages(chain, n - 3);
  }

  static void make_step_compute(SimulatedChain& chain, double share) {
    chain.trainer_seconds = share * chain.step_seconds;
    chain.step_seconds -= chain.trainer_seconds;
  }

  /// Adds the source and `middle` stages that read, decode and augment.
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
    switch (drawn_.shape) {
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

  /// A stage to plant (1-based); every category is equally likely.
  int pick_place(const SimulatedChain& chain) {
    std::vector<Category> categories;
    if (!options_.real_copy) categories.push_back(Category::copy);
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

  /// Sets the cost of a stage so that it lowers throughput by the drop drawn.
  bool plant(SimulatedChain& chain, int place) {
    const double after = predicted_seconds_per_sample(chain_law(chain, place));
    const double target = after / (1 - pick_drop());
    drawn_.planted += drawn_.planted.empty() ? "" : "+";
    if (place == chain.boundaries()) return plant_copy(chain, target);
    double* cost = &chain.collate_seconds;
    if (place == chain.collate_boundary()) {
      drawn_.planted += "collate";
    } else {
      const auto at = static_cast<std::size_t>(place) - 1;
      auto& stage = chain.stages[at];
      if (stage.kind == CostKind::payload) return false;
      stage.kind = pick_kind();
      name(chain, at);
      drawn_.planted += cachebisect::to_string(stage.kind);
      cost = &stage.seconds;
    }
    // Seconds per sample rise with the stage's cost: bisect for the target.
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
    if (drawn_.shape == Pattern::contention) return CostKind::cpu;
    static constexpr std::array kKinds{CostKind::cpu, CostKind::wait, CostKind::lock,
                                       CostKind::memory};
    return kKinds[random_.below(options_.simulated ? 4 : 3)];
  }

  bool plant_copy(SimulatedChain& chain, double target) {
    drawn_.planted += "copy";
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

  /// Downstream first: the upstream drop adds to it.
  bool plant_two(SimulatedChain& chain) {
    std::array places{pick_place(chain), pick_place(chain)};
    if (places[0] == places[1]) return false;
    std::sort(places.rbegin(), places.rend());
    return plant(chain, places[0]) && plant(chain, places[1]);
  }

  /// One worker; the stage before collate takes as long as the step, each one before it 3 to 4%.
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

  RandomStream& random_;
  const DrawOptions& options_;
  DrawnChain drawn_;
  double step_ = 0;  ///< seconds per sample
};

}  // namespace

std::optional<DrawnChain> draw_chain(RandomStream& random, const DrawOptions& options) {
  return ChainDraw(random, options).draw();
}

}  // namespace cachebisect::selftest
