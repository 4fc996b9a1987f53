// The law with the costs that a run measured: what each boundary, and each change to the chain,
// should give. Shown beside the measurement; replay is the proof.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/beside_live.hpp"
#include "cachebisect/bisect/costs/law.hpp"
#include "cachebisect/bisect/costs/sharing.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// What one stage costs a sample, in seconds.
struct StageCost {
  std::string name;
  double worker_seconds = 0;  ///< of whoever loads, without waiting in a line for lock or core
  double cpu_seconds = 0;
  double serial_seconds = 0;  ///< in a section that the whole pipeline passes one by one
  double copy_seconds = 0;
  double device_seconds = 0;  ///< on the compute stream; on the training thread where the host is
                              ///< the device
  double shared_seconds = 0;  ///< of what it computes, through something that all workers share
  bool may_share = false;     ///< nothing that was measured tells whether it does
  bool known = true;          ///< false: nothing that was measured tells
};

/// Seconds are per sample.
struct FittedLaw {
  int workers = 0;
  double cores = 1;
  std::vector<StageCost> stages;      ///< of the chain, in order
  std::vector<double> serve_seconds;  ///< rho, by boundary; may be empty
  double load_floor_seconds = 0;      ///< the executor's own, of whoever loads
  double trainer_seconds = 0;         ///< p
  double step_seconds = 0;            ///< g
  double trainer_cpu_seconds = 0;
  bool copy_blocks = false;
  bool copy_overlaps = true;
  bool device_is_host = false;
};

/// A stage (0-based) that costs `factor` of what it does now; 0: nothing.
struct CostScale {
  std::size_t stage = 0;
  double factor = 1;
};

/// What is changed in thought.
struct LawChanges {
  std::optional<int> workers;
  std::vector<CostScale> stages;
  double step_factor = 1;      ///< on the training step, host and device
  bool copy_overlaps = false;  ///< copy and step are made to run side by side
};

/// What limits, at what throughput.
struct LawLimit {
  Server server = Server::step;
  std::string stage;  ///< that takes most of that server; empty where it is the training step
  double samples_per_second = 0;
  double margin = 1;  ///< the next slower server would do so much more
};

/// How far the law is from what was measured: |predicted / measured - 1|.
struct LawMisfit {
  double live = 0;
  double ceiling = 0;
  double worst = 0;  ///< of all boundaries visited
};

/// Fitted to the live blocks and the boundaries of a report, or to one live block and what was
/// measured beside it. None where boundary n was not measured or live blocks carry no inline
/// counters.
[[nodiscard]] CACHEBISECT_API std::optional<FittedLaw> fit_law(const Report& report);
[[nodiscard]] CACHEBISECT_API std::optional<FittedLaw> fit_law(
    const Report& report, const BlockRecord& live, const RoundRatios& ratios,
    const std::vector<StageSharing>& sharing);

/// True for a block whose inline counters tell what the live pipeline costs.
[[nodiscard]] CACHEBISECT_API bool shows_live_costs(const BlockRecord& record) noexcept;

/// The law's input for a replay at `boundary` (0: live).
[[nodiscard]] CACHEBISECT_API LawInput law_input(const FittedLaw& law, const LawChanges& changes,
                                                 int boundary = 0);
/// Samples/s.
[[nodiscard]] CACHEBISECT_API double predict(const FittedLaw& law, const LawChanges& changes = {},
                                             int boundary = 0);
[[nodiscard]] CACHEBISECT_API LawLimit limit(const FittedLaw& law, const LawChanges& changes = {},
                                             int boundary = 0);
/// `report`'s boundaries 0 and n must have been measured.
[[nodiscard]] CACHEBISECT_API LawMisfit misfit(const FittedLaw& law, const Report& report);

/// Sets BoundaryReport::predicted_samples_per_second of every boundary; leaves them alone where no
/// law can be fitted.
CACHEBISECT_API void fill_predictions(Report& report);

}  // namespace cachebisect
