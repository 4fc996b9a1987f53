// Which boundaries the next round visits and how long their blocks are: from the budget, the pilot,
// the law's prior and the evidence so far.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/findings.hpp"
#include "cachebisect/bisect/phases/block_lengths.hpp"
#include "cachebisect/bisect/record/round_runner.hpp"

namespace cachebisect {

struct RoundPlanOptions {
  int stages = 1;               ///< n
  std::vector<int> candidates;  ///< boundaries that can be visited; 0 and n among them
  double budget_seconds = 60;
  double min_drop = 0.05;
  double batch_size = 1;
  BlockLengthOptions blocks;
  bool all = false;  ///< the user gave the list: visit all of it, whatever the budget
};

/// Every round visits 0, n and both ends of each part whose loss is large compared with the
/// largest; the stages between are taken together. Spans with a large loss are opened: where the
/// law expects the loss, else in the middle. In noise that hides a loss in single rounds, a span is
/// opened only if its loss stands out, and the boundaries that open it are visited until they are
/// known (Findings::min_visits) before another span is opened.
class CACHEBISECT_INTERNAL_API RoundPlan {
 public:
  /// Throws Error(usage) for candidates out of range.
  explicit RoundPlan(RoundPlanOptions options);

  /// Sets the seconds of one training step at a boundary, from its pilot block, and so the length
  /// of its blocks.
  void set_pilot(int boundary, double step_seconds);
  /// Sets what the law expects of each boundary 0..n, in seconds per sample; only ratios count.
  void set_prior(const std::vector<double>& seconds_per_sample);
  /// The search may take longer than was planned.
  void set_budget(double seconds) noexcept { options_.budget_seconds = seconds; }
  [[nodiscard]] BlockLengths& lengths() noexcept { return lengths_; }
  [[nodiscard]] const BlockLengths& lengths() const noexcept { return lengths_; }
  /// Takes the period of a CPU quota that runs out, in seconds; 0: none does. Blocks are as long as
  /// it needs, by what steps take in the rounds. True if there is one.
  bool follow_quota(double period_seconds);
  /// The block of a replay at a boundary.
  [[nodiscard]] PlannedBlock block(int boundary) const;
  [[nodiscard]] bool piloted(int boundary) const { return step_seconds_.at(at(boundary)) > 0; }
  [[nodiscard]] int steps(int boundary) const {
    return lengths_.steps_for(length_seconds(boundary), boundary);
  }
  /// The samples that the live pipeline takes in the blocks of a super-round.
  [[nodiscard]] std::uint64_t samples_of_super_round() const;
  /// Seconds of a step in the pilot; 0 without one.
  [[nodiscard]] double step_seconds(int boundary) const { return step_seconds_.at(at(boundary)); }
  /// Those of the rounds, which a single stall does not move; of the pilot before they ran.
  [[nodiscard]] double usual_step_seconds(int boundary) const;
  [[nodiscard]] double block_seconds(int boundary) const;

  /// The boundary whose pilot block would tell most; empty if no span is left that is worth
  /// opening, or if pilots have used their share of the budget.
  [[nodiscard]] std::optional<int> to_pilot() const;
  /// From now on these boundaries and their neighbours are visited: it is open whether the rounds
  /// have to do without them.
  void doubt(std::vector<int> boundaries) { doubted_ = std::move(boundaries); }
  /// Takes what the rounds showed; boundaries() are then those of the next round.
  void update(const Findings& findings, const RoundTable& rounds);
  /// A boundary that tells nothing: it is visited no more, unless the user named it.
  void avoid(int boundary);
  /// Chooses boundaries() by the pilot alone, before the first round.
  void choose();
  [[nodiscard]] const std::vector<int>& boundaries() const noexcept { return boundaries_; }
  /// Boundaries that can be visited, ascending.
  [[nodiscard]] const std::vector<int>& candidates() const noexcept { return options_.candidates; }
  /// True if rounds visit live a second time: a chain that seems flat is watched for stalls, which
  /// may hit live alone, and rarely.
  [[nodiscard]] bool live_twice() const noexcept { return boundaries_.size() == 2 && !noisy(); }
  /// Stages (1-based) of the part that loses most; empty while no part loses enough.
  [[nodiscard]] std::vector<int> suspects() const;
  /// Seconds of the next round, null blocks included.
  [[nodiscard]] double round_seconds() const;

 private:
  /// A part between boundaries whose level is estimated.
  struct PartLoss {
    Part part;
    double loss = 0;  ///< seconds per sample, in units of the ceiling's, as a verdict ranks parts
    bool excluded = false;
  };
  /// Seconds of a step, by which the length of a block is chosen: of the pilot, so that all of a
  /// run's blocks are as long; but single blocks do not tell what a quota leaves, and may have met
  /// a stall.
  [[nodiscard]] double length_seconds(int boundary) const;
  static std::size_t at(int boundary) { return static_cast<std::size_t>(boundary); }
  [[nodiscard]] std::vector<PartLoss> part_losses() const;
  [[nodiscard]] bool looks_for_stalls(const std::vector<PartLoss>& parts) const;
  void find_stalled_ends(const Findings& findings, const RoundTable& rounds);
  void choose_by_loss(const std::vector<PartLoss>& parts);
  [[nodiscard]] double worth(const std::vector<PartLoss>& parts) const;
  [[nodiscard]] bool noisy() const noexcept { return min_visits_ > 1; }
  [[nodiscard]] const PartLoss* largest_to_open(const std::vector<PartLoss>& parts) const;
  [[nodiscard]] std::vector<int> pieces(const Part& part) const;
  void visit_doubted();
  void open_in_noise(const std::vector<PartLoss>& parts);
  [[nodiscard]] int nearest_inside(const Part& part, int wanted) const;
  [[nodiscard]] int split(const Part& part) const;
  [[nodiscard]] std::optional<int> expected_split(const Part& part) const;
  [[nodiscard]] double round_seconds(const std::vector<int>& boundaries) const;

  RoundPlanOptions options_;
  BlockLengths lengths_;
  double pilot_seconds_ = 0;
  bool quota_ = false;  ///< a CPU quota runs out
  std::vector<int> avoided_;
  std::vector<int> doubted_;
  std::vector<double> step_seconds_;   ///< by boundary; 0: no pilot
  std::vector<double> usual_seconds_;  ///< of a step in the rounds, by boundary; 0: not visited
  std::vector<double> prior_;          ///< log seconds by boundary; may be empty
  /// By boundary: log tau(k) - log tau(n), by the rounds.
  std::vector<std::optional<double>> measured_;
  std::vector<Part> excluded_;
  std::vector<int> opened_;         ///< visited until they are known well enough
  std::optional<Part> challenger_;  ///< as Findings::challenger: visited until its mean is known
  int min_visits_ = 1;  ///< rounds until a boundary is known; above 1: pilots do not tell
  bool lossy_ = true;   ///< the whole loss stands out of the noise
  double stalled_ = 0;  ///< that the whole chain loses in rare stalls alone, as PartLoss::loss
  std::vector<int> stalled_ends_;  ///< boundaries to visit until it is known where stalls arise
  std::vector<int> boundaries_;
};

}  // namespace cachebisect
