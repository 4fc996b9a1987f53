#include "bench/habits/chain_draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cachebisect/base/error.hpp"

namespace cachebisect::habits {
namespace {

constexpr std::array<std::int64_t, 16> kBatches{1,  2,  3,  4,  7,   12,  16,  24,
                                                32, 50, 64, 96, 100, 128, 200, 256};
constexpr double kMinItemBytes = 10e3;
constexpr double kMaxItemBytes = 3e6;
constexpr double kMaxSlotBytes = 400e3;  ///< of a batch, so that collate costs next to nothing
constexpr double kMinWorkerSeconds = 50e-6;
constexpr double kMaxWorkerSeconds = 10e-3;
constexpr double kMinInnocent = 0.02;  ///< of a worker's time in a loop without loss, all together
constexpr double kMaxInnocent = 0.12;
constexpr double kCopyBytesPerSecond = 25e9;
constexpr double kCopyLatency = 10e-6;
constexpr int kMaxTries = 10'000;

double log_uniform(RandomStream& random, double min, double max) {
  return min * std::pow(max / min, random.uniform());
}

template <class List>
auto pick(RandomStream& random, const List& list) {
  return list[static_cast<std::size_t>(random.below(list.size()))];
}

}  // namespace

ChainDraw::ChainDraw(std::string habit, std::uint64_t seed, const DrawLimits& limits)
    : random_({.seed = seed, .stage = limits.stream != 0 ? limits.stream : hash_name(habit)}) {
  chain_.habit = std::move(habit);
  chain_.planted.seed = seed;
  draw_settings(limits);
  source_ = {
      {.name = "storage",
       .category = Category::read,
       .kind = CostKind::payload,
       .bytes = static_cast<double>(item_bytes_) + selftest::kLabelBytes},
      stage_text("synthetic.read", "storage", {{"bytes", item_bytes_}, {"samples", samples()}})};
  if (limits.innocents) add_innocents();
}

void ChainDraw::draw_settings(const DrawLimits& limits) {
  SimulatedChain& chain = chain_.planted.chain;
  for (int i = 0;; ++i) {
    if (i == kMaxTries) throw Error(ErrorKind::usage, "no chain fits these limits");
    chain.workers = pick(random_, limits.workers);
    chain.batch_size = pick(random_, kBatches);
    chain.step_seconds = log_uniform(random_, limits.min_step_seconds, limits.max_step_seconds);
    const double worker = worker_seconds(0);
    if (chain.batch_size >= limits.min_batch && chain.batch_size <= limits.max_batch &&
        1 / step_per_sample() <= limits.max_samples_per_second && worker >= kMinWorkerSeconds &&
        worker <= kMaxWorkerSeconds) {
      break;
    }
  }
  chain.ring_prefetch = static_cast<int>(random_.below(4));
  chain.cores = chain.workers + 1;
  chain.samples =
      limits.min_samples + random_.below(limits.max_samples - limits.min_samples) / 2 * 2 + 1;
  item_bytes_ = static_cast<std::int64_t>(log_uniform(random_, kMinItemBytes, kMaxItemBytes));
}

double ChainDraw::step_seconds() const noexcept { return chain_.planted.chain.step_seconds; }

double ChainDraw::step_per_sample() const noexcept {
  const SimulatedChain& chain = chain_.planted.chain;
  return chain.step_seconds / static_cast<double>(chain.batch_size);
}

double ChainDraw::worker_seconds(double loss) const noexcept {
  return std::max(1, workers()) * step_per_sample() / (1 - loss) - innocent_seconds_;
}

double ChainDraw::draw_worker_seconds(double min_loss, double max_loss) {
  return worker_seconds(random_.uniform(min_loss, max_loss));
}

std::string ChainDraw::draw_kind() {
  return workers() <= 1 && random_.below(2) == 0 ? "cpu" : "wait";
}

void ChainDraw::add_innocents() {
  const double all = random_.uniform(kMinInnocent, kMaxInnocent) * worker_seconds(0);
  const auto count = 1 + random_.below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string kind = draw_kind();
    const double seconds = all / static_cast<double>(count) * random_.uniform(0.2, 1);
    SimulatedStage planned{.name = kind + "_" + std::to_string(i + 1),
                           .category = Category::augment,
                           .kind = kind == "cpu" ? CostKind::cpu : CostKind::wait,
                           .seconds = seconds};
    StageText text = stage_text("synthetic." + kind, planned.name, {{"us", 1e6 * seconds}});
    stages_.push_back({std::move(planned), std::move(text)});
    innocent_seconds_ += seconds;
  }
}

void ChainDraw::set_prefetch(int batches) { chain_.planted.chain.ring_prefetch = batches; }

void ChainDraw::set_emulate(Members members) { emulate_ = std::move(members); }

void ChainDraw::set_source(SimulatedStage planned, StageText text) {
  source_ = {std::move(planned), std::move(text)};
}

void ChainDraw::plant(SimulatedStage planned, StageText text, Place place) {
  habit_.push_back({std::move(planned), std::move(text), true});
  place_ = place;
}

void ChainDraw::add(SimulatedStage planned, StageText text) {
  const auto at = static_cast<std::ptrdiff_t>(random_.below(stages_.size() + 1));
  innocent_seconds_ += planned.seconds;
  stages_.insert(stages_.begin() + at, {std::move(planned), std::move(text)});
}

/// A smaller item at the end of the chain, if batches of it would be costly to collate.
void ChainDraw::crop_items() {
  const double most = kMaxSlotBytes / static_cast<double>(chain_.planted.chain.batch_size);
  if (static_cast<double>(item_bytes_) <= most) return;
  const auto bytes = static_cast<std::int64_t>(most);
  stages_.push_back({{.name = "thumbnail",
                      .category = Category::augment,
                      .kind = CostKind::payload,
                      .bytes = static_cast<double>(bytes) + selftest::kLabelBytes},
                     stage_text("synthetic.payload", "thumbnail", {{"bytes", bytes}})});
}

void ChainDraw::place_habit() {
  const std::size_t room = stages_.size() + 1;
  const std::size_t at = place_ == Place::first ? 0 : static_cast<std::size_t>(random_.below(room));
  stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(at), habit_.begin(), habit_.end());
  if (habit_.empty()) return;
  chain_.first = static_cast<int>(at) + 2;
  chain_.last = chain_.first + static_cast<int>(habit_.size()) - 1;
}

HabitChain ChainDraw::finish() {
  SimulatedChain& chain = chain_.planted.chain;
  place_habit();
  crop_items();
  stages_.insert(stages_.begin(), std::move(source_));
  for (Stage& stage : stages_) {
    chain.stages.push_back(std::move(stage.planned));
    chain_.stages.push_back(std::move(stage.text));
  }
  chain.source_bytes = static_cast<double>(item_bytes_) + selftest::kLabelBytes;
  chain.copy_bytes_per_second = kCopyBytesPerSecond;
  chain.copy_latency_seconds = kCopyLatency;
  chain_.stages.push_back(stage_text("collate.stack", "collate"));
  chain_.stages.push_back(stage_text("copy.device", "copy"));
  Members settings{{"batch_size", chain.batch_size},
                   {"workers", std::int64_t{chain.workers}},
                   {"prefetch", std::int64_t{chain.ring_prefetch}}};
  chain_.settings.insert(chain_.settings.begin(), settings.begin(), settings.end());
  Members emulate{{"step_ms", 1e3 * chain.step_seconds},
                  {"copy_gb_per_s", 1e-9 * kCopyBytesPerSecond},
                  {"copy_latency_us", 1e6 * kCopyLatency}};
  // Of two values of a key, the later one counts.
  emulate.insert(emulate.end(), emulate_.begin(), emulate_.end());
  chain_.emulate = object_of(emulate);
  return std::move(chain_);
}

}  // namespace cachebisect::habits
