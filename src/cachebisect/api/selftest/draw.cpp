#include "cachebisect/api/selftest/draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "cachebisect/api/selftest/chain_law.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/simulated_ring.hpp"

namespace cachebisect::selftest {

const char* to_string(Pattern shape) noexcept {
  switch (shape) {
    case Pattern::flat:
      return "flat";
    case Pattern::drop:
      return "drop";
    case Pattern::two_drops:
      return "two drops";
    case Pattern::ramp:
      return "ramp";
  }
  return "unknown";
}

namespace {

constexpr double kMinDrop = 0.05;
constexpr double kClear = 1.10;           ///< one server this much slower than the next
constexpr double kSecondAtMost = 0.75;    ///< of the largest drop
constexpr double kCopyBandwidth = 0.1e9;  ///< a slow bus, so that a copy is planted by few bytes
constexpr double kSourceBytes = 64 + kLabelBytes;
constexpr double kMostStageSeconds = 0.25;
constexpr int kTries = 1000;

class Drawing {
 public:
  Drawing(RandomStream& random, const DrawOptions& options) : random_(random), options_(options) {}

  /// False where this attempt's truth is not beyond doubt.
  bool attempt(PlantedChain& out) {
    shape_ = pick_shape();
    base(out.chain);
    bool possible = true;
    switch (shape_) {
      case Pattern::flat:
        break;
      case Pattern::drop:
        possible = plant(out.chain, random_.uniform(options_.least_drop, options_.most_drop));
        break;
      case Pattern::two_drops:
        possible = plant_two(out.chain);
        break;
      case Pattern::ramp:
        possible = plant_ramp(out.chain);
        break;
    }
    if (!possible) return false;
    if (options_.jitter && random_.below(2) == 0) add_jitter(out.chain);
    out.truth = measure_truth(out.chain);
    out.truth.shape = shape_;
    if (shape_ == Pattern::drop || shape_ == Pattern::two_drops) out.truth.planted = planted_;
    return beyond_doubt(out);
  }

 private:
  Pattern pick_shape() {
    double u = random_.uniform();
    for (const auto& [shape, share] : {std::pair{Pattern::flat, options_.flat_share},
                                       std::pair{Pattern::two_drops, options_.two_drops_share},
                                       std::pair{Pattern::ramp, options_.ramp_share}}) {
      if (u < share) return shape;
      u -= share;
    }
    return Pattern::drop;
  }

  /// Everything but the planted stage: below half of the step's time together.
  void base(SimulatedChain& chain) {
    chain = {};
    const auto span = static_cast<std::uint64_t>(options_.most_stages - options_.least_stages + 1);
    const int n = options_.least_stages + static_cast<int>(random_.below(span));
    chain.batch_size = static_cast<std::int64_t>(8 << random_.below(3));
    chain.workers = std::array{0, 1, 2, 4}[random_.below(4)];
    chain.cores = options_.cores;
    chain.step_seconds =
        options_.least_step_seconds *
        std::pow(options_.most_step_seconds / options_.least_step_seconds, random_.uniform());
    chain.copy_bytes_per_second = kCopyBandwidth;
    chain.source_bytes = kSourceBytes;
    step_ = chain.step_seconds / static_cast<double>(chain.batch_size);
    chain.stages = {
        {.name = "read", .category = "read", .kind = CostKind::payload, .bytes = kSourceBytes}};
    const int middle = n - 3;
    const double room = 0.5 * step_ * std::max(1, std::min(chain.workers, options_.cores));
    for (int i = 0; i < middle; ++i) {
      const CostKind kind = random_.below(2) == 0 ? CostKind::cpu : CostKind::wait;
      chain.stages.push_back(
          {.name = std::string(cachebisect::to_string(kind)) + "_" + std::to_string(i + 2),
           .kind = kind,
           .seconds = room / middle * random_.uniform(0.02, 0.9)});
    }
  }

  [[nodiscard]] std::optional<std::size_t> a_middle_stage(const SimulatedChain& chain) {
    if (chain.stages.size() < 2) return std::nullopt;
    return 1 + static_cast<std::size_t>(random_.below(chain.stages.size() - 1));
  }

  /// Makes one stage cost so much that live throughput from its boundary on falls by `drop`.
  bool plant(SimulatedChain& chain, double drop) {
    static constexpr std::array kKinds{CostKind::cpu, CostKind::wait, CostKind::lock,
                                       CostKind::payload};
    const CostKind kind = kKinds[random_.below(kKinds.size())];
    const double target = step_ / (1 - drop);
    if (kind == CostKind::payload) return plant_copy(chain, target);
    const auto at = a_middle_stage(chain);
    if (!at) return false;
    auto& stage = chain.stages[*at];
    planted_ = cachebisect::to_string(kind);
    stage.kind = kind;
    stage.name = planted_ + "_" + std::to_string(*at + 1);
    // The law rises with the stage's cost: bisect for the target.
    double low = 0;
    double high = kMostStageSeconds;
    for (int i = 0; i < 60; ++i) {
      stage.seconds = 0.5 * (low + high);
      const double tau = predicted_seconds_per_sample(chain_law(chain, static_cast<int>(*at)));
      (tau < target ? low : high) = stage.seconds;
    }
    return true;
  }

  bool plant_copy(SimulatedChain& chain, double target) {
    planted_ = "copy";
    const auto batch = static_cast<double>(chain.batch_size);
    const double bytes =
        std::floor((target * batch - chain.copy_latency_seconds) * kCopyBandwidth / batch);
    const std::size_t at = a_middle_stage(chain).value_or(0);
    auto& stage = chain.stages[at];
    stage.kind = CostKind::payload;
    stage.seconds = 0;
    stage.bytes = bytes;
    if (at > 0) stage.name = "payload_" + std::to_string(at + 1);
    if (at == 0) chain.source_bytes = bytes;
    return true;
  }

  bool plant_two(SimulatedChain& chain) {
    if (!plant(chain, random_.uniform(options_.least_drop, options_.most_drop))) return false;
    const std::string first = planted_;
    const bool second = plant(chain, random_.uniform(options_.least_drop, options_.most_drop));
    planted_ = first + "+" + planted_;
    return second;
  }

  /// One worker; the stage before collate fills the step's time, each one before it adds 3 to 4%.
  bool plant_ramp(SimulatedChain& chain) {
    const std::size_t count = chain.stages.size() - 1;
    if (count < 4) return false;
    chain.workers = 1;
    for (std::size_t s = 1; s <= count; ++s) {
      auto& stage = chain.stages[s];
      stage.kind = CostKind::cpu;
      stage.seconds = s == count ? 0.995 * step_ : step_ * random_.uniform(0.03, 0.04);
    }
    return true;
  }

  void add_jitter(SimulatedChain& chain) {
    for (auto& stage : chain.stages) {
      const bool heavy = random_.below(3) == 0;
      stage.jitter.kind = heavy ? Jitter::Kind::pareto : Jitter::Kind::lognormal;
      stage.jitter.cv = random_.uniform(0.05, 0.5);
    }
  }

  [[nodiscard]] bool beyond_doubt(const PlantedChain& planted) const {
    const Truth& truth = planted.truth;
    if (shape_ == Pattern::flat) return truth.loss < 0.4 * kMinDrop;
    auto drops = truth.drops;
    std::sort(drops.rbegin(), drops.rend());
    if (drops.back() < -0.005) return false;
    if (shape_ == Pattern::ramp) return drops.front() < 0.9 * kMinDrop && truth.loss > 0.08;
    if (drops.front() < options_.least_drop * 0.98) return false;
    if (drops.size() > 1 && drops[1] > kSecondAtMost * drops.front()) return false;
    for (const int boundary : {truth.largest - 1, truth.largest}) {
      if (law_margin(chain_law(planted.chain, boundary)) < kClear) return false;
    }
    return true;
  }

  RandomStream& random_;
  const DrawOptions& options_;
  Pattern shape_ = Pattern::flat;
  double step_ = 0;
  std::string planted_;
};

}  // namespace

PlantedChain draw(std::uint64_t seed, const DrawOptions& options) {
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

Truth measure_truth(const SimulatedChain& chain) {
  const SimulatedRing ring(chain);
  Truth truth;
  for (int k = 0; k <= chain.boundaries(); ++k) {
    truth.seconds_per_sample.push_back(ring.seconds_per_sample(k, ring.constant() ? 64 : 1024));
  }
  for (std::size_t s = 1; s < truth.seconds_per_sample.size(); ++s) {
    truth.drops.push_back(1 - truth.seconds_per_sample[s] / truth.seconds_per_sample[s - 1]);
  }
  truth.loss = 1 - truth.seconds_per_sample.back() / truth.seconds_per_sample.front();
  truth.largest = 1 + static_cast<int>(std::max_element(truth.drops.begin(), truth.drops.end()) -
                                       truth.drops.begin());
  return truth;
}

}  // namespace cachebisect::selftest
