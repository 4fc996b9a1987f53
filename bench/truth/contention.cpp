#include "bench/truth/contention.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "cachebisect/base/random.hpp"
#include "cachebisect/base/shuffle.hpp"

namespace cachebisect::truth {
namespace {

constexpr double kBlockSeconds = 0.04;
constexpr double kConfidence = 0.99;
constexpr std::size_t kFewestRounds = 10;
constexpr double kModelStepSeconds = 2e-3;  ///< about what a small network takes a step

SimulatedStage stage(std::string name, std::string category, CostKind kind, double seconds) {
  SimulatedStage result;
  result.name = std::move(name);
  result.category = std::move(category);
  result.kind = kind;
  result.seconds = seconds;
  return result;
}

/// Small costs, and one that starves the step or only takes its cores.
void plant(RandomStream& random, double step_seconds, SimulatedChain& chain) {
  const double room =
      step_seconds * static_cast<double>(chain.workers) / static_cast<double>(chain.batch_size);
  const std::size_t count = 1 + random.below(3);
  const std::size_t large = random.below(count);
  for (std::size_t i = 0; i < count; ++i) {
    const CostKind kind = i == large || random.below(2) == 0 ? CostKind::cpu : CostKind::wait;
    const double share = i == large ? random.uniform(0.2, 2.0) : random.uniform(0.01, 0.1);
    chain.stages.push_back(stage(std::string(to_string(kind)) + "_" + std::to_string(i + 1),
                                 "synthetic", kind, share * room));
  }
}

std::string write_json(const ContentionChain& drawn) {
  const SimulatedChain& chain = drawn.planted.chain;
  std::ostringstream out;
  out << R"({"name": "contention-)" << drawn.planted.seed << R"(", "batch_size": )"
      << chain.batch_size << R"(, "workers": )" << chain.workers
      << R"(, "shuffle": false, "device": "cpu", "stages": [)";
  out << (drawn.model
              ? R"({"use": "read.mnist", "path": "${cache}/mnist", "if_missing": "generate"},
                           {"use": "decode.mnist"}, {"use": "augment.to_float"},)"
              : R"({"use": "synthetic.read", "bytes": 64, "samples": 100000},)");
  for (const SimulatedStage& s : chain.stages) {
    if (s.category != "synthetic") continue;
    out << R"({"use": "synthetic.)" << to_string(s.kind) << R"(", "name": ")" << s.name
        << R"(", "us": )" << 1e6 * s.seconds << "},";
  }
  out << R"({"use": "collate.stack"}, {"use": "copy.device"}], "train": )";
  if (drawn.model) {
    out << R"({"model": "lenet", "classes": 10, "threads": )" << drawn.threads << "}}";
  } else {
    out << R"({"kind": "callback"}})";
  }
  return out.str();
}

double drop_of(double log_ratio) { return 1 - std::exp(-log_ratio); }

/// The drop of the median round between two arms, with its interval.
double median_drop(const std::vector<double>& before, const std::vector<double>& after,
                   Interval& interval) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before.size(); ++i) ratios.push_back(std::log(before[i] / after[i]));
  const auto range = median_interval(ratios, kConfidence);
  if (range) interval = {drop_of(range->low), drop_of(range->high)};
  return drop_of(median(ratios));
}

/// Seconds a sample of all arms, round by round.
class Rounds {
 public:
  Rounds(Replayer& replayer, std::uint64_t seed)
      : replayer_(replayer), random_({.seed = seed, .stage = hash_name("exhaustive")}) {
    const ChainDescription chain = replayer.describe();
    warmup_ = std::max({4, chain.workers, chain.ring_slots});
    for (int k = 0; k <= static_cast<int>(chain.stages.size()); ++k)
      arms_.push_back({.boundary = k});
    const Arm shadow{.kind = ArmKind::shadow};
    if (replayer.supports(shadow)) arms_.push_back(shadow);
    seconds_.resize(arms_.size());
    for (const Arm& arm : arms_) {
      const BlockResult pilot =
          replayer_.run({.arm = arm, .steps = 3, .warmup_steps = warmup_}, {});
      steps_.push_back(std::max(3, static_cast<int>(std::ceil(3 * kBlockSeconds / pilot.seconds))));
    }
  }

  /// A round in which a block is void does not count.
  void add() {
    replayer_.begin_round();
    std::vector<std::size_t> order(arms_.size());
    std::iota(order.begin(), order.end(), 0U);
    shuffle(order, random_);
    std::vector<double> round(arms_.size());
    for (const std::size_t at : order) {
      const BlockResult block =
          replayer_.run({.arm = arms_[at], .steps = steps_[at], .warmup_steps = warmup_}, {});
      if (block.is_void) return;
      round[at] = block.seconds / static_cast<double>(block.samples);
    }
    for (std::size_t at = 0; at < round.size(); ++at) seconds_[at].push_back(round[at]);
  }

  [[nodiscard]] std::size_t count() const { return seconds_.front().size(); }
  [[nodiscard]] std::size_t boundaries() const { return arms_.size() - (has_shadow() ? 1 : 0); }
  [[nodiscard]] bool has_shadow() const { return arms_.back().kind == ArmKind::shadow; }
  [[nodiscard]] const std::vector<double>& at(std::size_t boundary) const {
    return seconds_[boundary];
  }
  [[nodiscard]] const std::vector<double>& shadow() const { return seconds_.back(); }

 private:
  Replayer& replayer_;
  RandomStream random_;
  std::vector<Arm> arms_;
  std::vector<int> steps_;
  int warmup_ = 4;
  std::vector<std::vector<double>> seconds_;  ///< by arm
};

}  // namespace

ContentionChain draw_contention(std::uint64_t seed, int cores, bool model) {
  RandomStream random({.seed = seed, .stage = hash_name("contention")});
  ContentionChain drawn;
  drawn.model = model;
  drawn.threads = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(cores)));
  drawn.step_seconds = model ? kModelStepSeconds : random.uniform(2e-3, 6e-3);
  drawn.planted.seed = seed;
  SimulatedChain& chain = drawn.planted.chain;
  chain.batch_size = 16;
  chain.workers = std::max(1, cores - drawn.threads + 1) + static_cast<int>(random.below(2));
  chain.cores = cores;
  chain.device_is_host = true;
  chain.trainer_seconds = drawn.step_seconds;
  chain.stages.push_back(stage("read", "read", CostKind::payload, 0));
  if (model) {
    chain.stages.push_back(stage("decode", "decode", CostKind::cpu, 0));
    chain.stages.push_back(stage("to_float", "augment", CostKind::cpu, 0));
  }
  plant(random, drawn.step_seconds, chain);
  drawn.json = write_json(drawn);
  return drawn;
}

ExhaustiveTruth measure_exhaustively(Replayer& replayer, double seconds, std::uint64_t seed) {
  Rounds rounds(replayer, seed);
  const double end = replayer.clock() + seconds;
  while (rounds.count() < kFewestRounds || replayer.clock() < end) rounds.add();
  ExhaustiveTruth result;
  result.rounds = static_cast<int>(rounds.count());
  selftest::Truth& truth = result.truth;
  truth.shape = selftest::Pattern::contention;
  const std::size_t last = rounds.boundaries() - 1;
  for (std::size_t k = 0; k <= last; ++k) truth.seconds_per_sample.push_back(median(rounds.at(k)));
  for (std::size_t s = 1; s <= last; ++s) {
    truth.drops.push_back(
        median_drop(rounds.at(s - 1), rounds.at(s), result.drop_intervals.emplace_back()));
  }
  truth.largest = 1 + static_cast<int>(std::max_element(truth.drops.begin(), truth.drops.end()) -
                                       truth.drops.begin());
  truth.loss = median_drop(rounds.at(0), rounds.at(last), result.loss_interval);
  if (rounds.has_shadow()) {
    result.contention = median_drop(rounds.shadow(), rounds.at(last), result.contention_interval);
  }
  return result;
}

}  // namespace cachebisect::truth
