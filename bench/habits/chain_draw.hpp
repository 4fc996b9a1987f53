// Draws everything of a chain but its habit: batch, workers, step, item size, and stages that cost
// little.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/habits/chain.hpp"

#include "cachebisect/base/random.hpp"

namespace cachebisect::habits {

struct DrawLimits {
  std::vector<int> workers{0, 1, 2, 3, 4};
  std::int64_t min_batch = 1;
  std::int64_t max_batch = 256;
  double min_step_seconds = 4e-3;
  double max_step_seconds = 20e-3;
  double max_samples_per_second = 1e9;  ///< that the step asks for
  std::uint64_t min_samples = 100'000;  ///< of the data set
  std::uint64_t max_samples = 400'000;
  bool innocents = true;     ///< stages that cost little
  std::uint64_t stream = 0;  ///< of random numbers; 0: that of the habit's name
};

/// Where the habit's stages go: after the source, or anywhere among the others.
enum class Place { first, anywhere };

/// Equal arguments and calls give equal chains.
class ChainDraw {
 public:
  ChainDraw(std::string habit, std::uint64_t seed, const DrawLimits& limits);

  [[nodiscard]] RandomStream& random() noexcept { return random_; }
  [[nodiscard]] int workers() const noexcept { return chain_.planted.chain.workers; }
  [[nodiscard]] std::int64_t samples() const noexcept {
    return static_cast<std::int64_t>(chain_.planted.chain.samples);
  }
  [[nodiscard]] std::int64_t item_bytes() const noexcept { return item_bytes_; }
  /// Seconds of the training step.
  [[nodiscard]] double step_seconds() const noexcept;
  /// Seconds per sample of the training step.
  [[nodiscard]] double step_per_sample() const noexcept;
  /// What a stage costs a worker per sample if it makes the live loop lose `loss` of the step's
  /// throughput.
  [[nodiscard]] double worker_seconds(double loss) const noexcept;
  /// worker_seconds() of a loss drawn from [min, max).
  double draw_worker_seconds(double min_loss, double max_loss);
  /// "cpu" or "wait": the cores of a small machine are left free for the law to hold.
  std::string draw_kind();

  void set_prefetch(int batches);
  /// Settings of the emulated device, in addition to the drawn ones or in place of them.
  void set_emulate(Members members);
  /// Replaces the free source. `planned`: name, kind and cost.
  void set_source(SimulatedStage planned, StageText text);
  /// Adds a stage with the habit; several stay together.
  void plant(SimulatedStage planned, StageText text, Place place = Place::anywhere);
  /// Adds a stage that is no habit, at a random place.
  void add(SimulatedStage planned, StageText text);
  [[nodiscard]] HabitChain finish();

 private:
  struct Stage {
    SimulatedStage planned;
    StageText text;
    bool habit = false;
  };

  void draw_settings(const DrawLimits& limits);
  void add_innocents();
  void crop_items();
  void place_habit();

  RandomStream random_;
  HabitChain chain_;
  std::int64_t item_bytes_ = 0;
  double innocent_seconds_ = 0;  ///< per sample, of a worker
  std::vector<Stage> stages_;    ///< after the source
  std::vector<Stage> habit_;
  Stage source_;
  Place place_ = Place::anywhere;
  Members emulate_;
};

}  // namespace cachebisect::habits
