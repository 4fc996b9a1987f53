// What each stage of a chain costs, and what the law (demands.hpp) predicts from it: for each
// boundary, and for hypothetical changes. Shown next to the measurement; replay is the proof.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/demands.hpp"
#include "cachebisect/bisect/costs/round_ratios.hpp"

namespace cachebisect {

/// What one stage costs, in seconds per sample.
struct StageCost {
  std::string name;
  double worker_seconds = 0;  ///< of the thread that loads, without waiting for a lock or a core
  double cpu_seconds = 0;
  double serial_seconds = 0;   ///< in a section that the workers enter one at a time
  double trainer_seconds = 0;  ///< of the training thread, in addition to its step
  double copy_seconds = 0;
  /// On the compute stream; on the training thread if the host is the device.
  double device_seconds = 0;
  double shared_seconds = 0;  ///< of the computation, in a resource that all workers share
  bool may_share = false;     ///< the measurements do not tell whether it shares a resource
  bool known = true;          ///< false: the measurements do not tell the costs
};

/// Seconds are per sample.
struct CostModel {
  int workers = 0;
  double cores = 1;  ///< physical; more if the measurements show that hyper-threads helped
  std::vector<StageCost> stages;      ///< of the chain, in order
  std::vector<double> serve_seconds;  ///< rho, by boundary; may be empty
  double load_floor_seconds = 0;      ///< the executor's own, of the thread that loads
  double trainer_seconds = 0;         ///< p
  double step_seconds = 0;            ///< g
  double trainer_cpu_seconds = 0;
  int trainer_threads = 1;  ///< that the step computes with on the host
  bool copy_blocks = false;
  bool copy_overlaps = true;
  bool device_is_host = false;
};

/// A stage (0-based) that costs `factor` times what it does now; 0: free.
struct CostScale {
  std::size_t stage = 0;
  double factor = 1;
  double waiting = 1;  ///< further factor, on the time in which its thread does not compute
};

/// Another machine, as seen from the one that was measured. Storage and memory stay as they are.
struct OtherMachine {
  double cores = 1;         ///< that the job may use
  double core_speed = 1;    ///< of a core, relative
  double device_speed = 1;  ///< of the training step and of stages on the device, relative
};

/// Each worker makes its samples in several threads at once, of which one computes at a time.
struct SampleThreads {
  int count = 1;
  std::size_t stages = 0;  ///< the first of the chain, which make samples
  bool overlap = false;    ///< a thread computes while others wait
};

/// A hypothetical change.
struct CostChanges {
  std::optional<int> workers;
  std::optional<OtherMachine> machine;
  std::vector<CostScale> stages;
  std::optional<SampleThreads> threads;
  double step_factor = 1;      ///< on the training step, host and device
  double step_within = 1;      ///< factor within which it is known then, 1 or more
  bool copy_overlaps = false;  ///< copy and step are made to run at the same time
  double added_seconds = 0;    ///< per sample, of the thread that loads
  /// Per sample, of the training thread, to receive batches from processes.
  double received_seconds = 0;
  double added_within = 2;  ///< factor within which both are known, 1 or more
  /// Per sample, of the training thread: nobody knows how much of it the change costs.
  double unknown_seconds = 0;
};

/// What limits, at what throughput.
struct Limit {
  Server server = Server::step;
  std::string stage;  ///< that takes most of the server; empty if it is the training step
  double samples_per_second = 0;
  double margin = 1;  ///< how much faster the next slower server is
};

/// How far the predictions are from what was measured: |predicted / measured - 1|.
struct Misfit {
  double live = 0;
  double ceiling = 0;
  double worst = 0;  ///< of all boundaries visited
};

/// What a replay at `boundary` (0: live) demands.
[[nodiscard]] CACHEBISECT_INTERNAL_API Demands demands_of(const CostModel& costs,
                                                          const CostChanges& changes = {},
                                                          int boundary = 0);
/// Samples/s.
[[nodiscard]] CACHEBISECT_INTERNAL_API double predict(const CostModel& costs,
                                                      const CostChanges& changes = {},
                                                      int boundary = 0);
[[nodiscard]] CACHEBISECT_INTERNAL_API Limit limit_of(const CostModel& costs,
                                                      const CostChanges& changes = {},
                                                      int boundary = 0);
/// `measured`: seconds per sample at the pace of the live pipeline, boundaries 0 and n among them.
[[nodiscard]] CACHEBISECT_INTERNAL_API Misfit misfit_of(const CostModel& costs,
                                                        const PacedTaus& measured);

}  // namespace cachebisect
