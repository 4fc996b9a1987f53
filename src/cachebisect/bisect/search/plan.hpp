// Which boundaries the next round visits and how long their blocks are: from the budget, the pilot,
// the law's guess and the evidence so far.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/evidence/findings.hpp"

namespace cachebisect {

struct PlanOptions {
  int stages = 1;               ///< n
  std::vector<int> candidates;  ///< boundaries that can be visited; 0 and n among them
  double budget_seconds = 60;
  double min_drop = 0.05;
  double batch_size = 1;
  int workers = 0;
  int ready_from = 0;  ///< boundary from which on whole batches lie ready; 0: not known
  bool all = false;    ///< the user gave the list: all of it, whatever the budget
};

/// Every round visits 0, n and both ends of each part that loses much of what the largest part
/// loses; what lies between is taken together. Spans that lose so much are opened: where the law
/// expects the loss, else in the middle. Short chains begin with a few rounds of all boundaries.
/// In noise that hides a loss in single rounds, a span is opened only where its loss stands out,
/// and what opens it is visited until it is known (Findings::least_visits) before anything else
/// opens.
class CACHEBISECT_API Plan {
 public:
  /// Throws Error(usage) for candidates out of range.
  explicit Plan(PlanOptions options);

  /// Seconds of one training step at a boundary, from its pilot block. Sets the block's length:
  /// N_k = max(3, ceil(40 ms / step)), up to a multiple of the workers: those who start together
  /// finish batches in groups, and part of a group is a bias.
  void set_pilot(int boundary, double step_seconds);
  /// What the law expects of each boundary 0..n, in seconds a sample; only ratios count.
  void set_prior(const std::vector<double>& seconds_per_sample);
  void set_warmup(int steps) noexcept { warmup_ = steps; }
  /// Untimed steps of a pilot's block; no workers have to settle where batches lie ready.
  [[nodiscard]] int warmup(int boundary) const noexcept;
  /// Those of a block that is evidence: warmup(boundary), with two workers and more on average,
  /// give or take half a step: where in a group of batches a block begins is noise then and no
  /// bias.
  [[nodiscard]] int draw_warmup(int boundary, RandomStream& random) const;
  [[nodiscard]] bool piloted(int boundary) const { return step_seconds_.at(at(boundary)) > 0; }
  [[nodiscard]] int steps(int boundary) const;
  /// Timed steps of a block whose steps take so long; 0: not known.
  [[nodiscard]] int steps_for(double step_seconds) const;
  /// Of the pilot; 0 without one.
  [[nodiscard]] double step_seconds(int boundary) const { return step_seconds_.at(at(boundary)); }
  [[nodiscard]] double block_seconds(int boundary) const;

  /// The boundary whose pilot block would tell most; none when no span worth opening is left, or
  /// pilots have had their share of the budget.
  [[nodiscard]] std::optional<int> to_pilot() const;
  /// Takes what the rounds showed; then boundaries() are the next round's.
  void update(const Findings& findings, const RoundTable& rounds);
  /// By the pilot alone, before the first round.
  void choose();
  [[nodiscard]] const std::vector<int>& boundaries() const noexcept { return boundaries_; }
  /// Whether rounds visit live a second time: a chain that seems flat is looked at for stalls,
  /// which live alone may show, and rarely.
  [[nodiscard]] bool live_twice() const noexcept { return boundaries_.size() == 2 && !noisy(); }
  /// Stages (1-based) of the part that loses most; none while no part loses enough to be looked at.
  [[nodiscard]] std::vector<int> suspects() const;

  /// A span with candidates between its ends.
  [[nodiscard]] bool can_open(const Part& part) const;
  /// Seconds of the next round, null blocks included.
  [[nodiscard]] double round_seconds() const;

 private:
  /// A part between boundaries with an estimate, and its loss of log throughput.
  struct Estimate {
    Part part;
    double loss = 0;
    bool excluded = false;
  };
  static std::size_t at(int boundary) { return static_cast<std::size_t>(boundary); }
  [[nodiscard]] int whole_groups(int steps) const;
  [[nodiscard]] std::vector<Estimate> estimates() const;
  [[nodiscard]] bool worth_all_boundaries(const std::vector<Estimate>& parts) const;
  [[nodiscard]] double worth(const std::vector<Estimate>& parts) const;
  [[nodiscard]] bool surveying(const std::vector<Estimate>& parts) const;
  [[nodiscard]] bool noisy() const noexcept { return least_visits_ > 1; }
  [[nodiscard]] const Estimate* largest_to_open(const std::vector<Estimate>& parts) const;
  [[nodiscard]] std::vector<int> pieces(const Part& part) const;
  void open_in_noise(const std::vector<Estimate>& parts);
  [[nodiscard]] int nearest_inside(const Part& part, int wanted) const;
  [[nodiscard]] int split(const Part& part) const;
  [[nodiscard]] std::optional<int> expected_split(const Part& part) const;
  [[nodiscard]] double round_seconds(const std::vector<int>& boundaries) const;

  PlanOptions options_;
  int warmup_ = 2;
  double pilot_seconds_ = 0;
  std::vector<double> step_seconds_;   ///< by boundary; 0: no pilot
  std::vector<double> usual_seconds_;  ///< of a step, by boundary, by rounds; 0: not visited
  std::vector<double> prior_;          ///< log seconds by boundary; may be empty
  std::vector<std::optional<double>>
      measured_;  ///< by boundary: log tau(k) - log tau(n), by rounds
  std::vector<Part> excluded_;
  std::vector<int> opened_;  ///< visited until they are known well enough
  int least_visits_ = 1;     ///< rounds until a boundary is known; above 1: pilots tell nothing
  bool lossy_ = true;        ///< the whole loss stands out of the noise
  double stalled_ = 0;       ///< log throughput lost over the whole chain in rare stalls alone
  std::size_t survey_rounds_ = 0;  ///< of the boundary with the fewest
  std::vector<int> boundaries_;
};

}  // namespace cachebisect
