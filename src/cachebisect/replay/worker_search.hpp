// The search behind `workers: auto`, apart from what it measures with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

struct WorkerChoice {
  int workers = 1;
  WorkerSearch search;
};

/// A block of the live loop.
struct TrialBlock {
  double seconds = 0;
  double starved_seconds = 0;  ///< in which the training step waited for data
  double cpu_seconds = 0;      ///< of all that ran
  std::uint64_t samples = 0;
};

/// The live loop with one number of workers.
class CACHEBISECT_INTERNAL_API TrialLoop {
 public:
  TrialLoop() = default;
  TrialLoop(const TrialLoop&) = delete;
  TrialLoop& operator=(const TrialLoop&) = delete;
  virtual ~TrialLoop();
  /// Runs `steps` timed steps. Throws what pipeline and step throw.
  virtual TrialBlock run(int steps) = 0;
  [[nodiscard]] virtual double bytes_held() const = 0;  ///< by batch slots
};

/// Where loops come from, and what the machine has for them.
struct WorkerTrials {
  std::function<std::unique_ptr<TrialLoop>(int workers)> open;
  std::function<double()> clock;       ///< seconds
  std::function<double()> free_bytes;  ///< of memory
  double cores = 1;                    ///< usable ones
  int batch_size = 1;
};

/// Runs 1, 2, 4, ... workers in short blocks, each count in turns with its double, for as long as
/// the double is more than 3% faster: beyond the number of cores too, because workers that wait
/// need none. Returns the first count that its double does not beat. Throws what the loops throw.
[[nodiscard]] CACHEBISECT_INTERNAL_API WorkerChoice search_workers(const WorkerTrials& trials);

}  // namespace cachebisect
