// Everything that the bisector sees of a training job. Every type is plain and serialisable, so
// that a simulation, a C++ pipeline or another process can stand behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_reading.hpp"
#include "cachebisect/protocol/arm.hpp"
#include "cachebisect/protocol/block.hpp"
#include "cachebisect/protocol/cache_facts.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/protocol/node_reading.hpp"
#include "cachebisect/protocol/storage_counts.hpp"

namespace cachebisect {

/// Called from one thread at a time.
class CACHEBISECT_API Replayer {
 public:
  virtual ~Replayer();
  [[nodiscard]] virtual ChainDescription describe() const = 0;
  /// Of an unseen arm, whether one more block of it can be run now.
  [[nodiscard]] virtual bool supports(const Arm& arm) const = 0;
  /// Why an arm is not supported, in words; empty: nothing more is known.
  [[nodiscard]] virtual std::string why_unsupported(const Arm& arm) const;
  /// Fills the caches. Throws Error(usage) if the budgets do not hold a single batch.
  virtual CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) = 0;
  /// Refills the caches with the next `samples` samples of the data set (0: as many as before).
  /// Empty, with the caches unchanged, if this replayer cannot refill or the data set or budget is
  /// too small. Throws as prepare() does.
  virtual std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token& stop);
  /// Replaces the cached samples by about `samples` others, as far as data set and budgets allow,
  /// with new random draws. Each block goes on in the caches where the last one of its arm stopped:
  /// `samples` are what the blocks of an arm serve until the next call. False if this replayer
  /// keeps the samples that it has. Throws as prepare() does.
  virtual bool freshen(std::uint64_t samples, const std::stop_token& stop);
  /// Restores the weights.
  virtual void begin_round() = 0;
  /// Runs one block; live blocks also before prepare(). Throws what the pipeline or the step
  /// throws, and Error(interrupted) on `stop`.
  virtual BlockResult run(const BlockRequest& request, const std::stop_token& stop) = 0;
  /// Makes samples as live blocks do and counts what that asks of storage. Empty if this replayer
  /// cannot tell. Throws as run() does.
  virtual std::optional<StorageCounts> count_storage(const StorageRequest& request,
                                                     const std::stop_token& stop);
  /// The current time in seconds: the only clock that the bisector reads.
  [[nodiscard]] virtual double clock() const = 0;
  /// Counters of the machine that the blocks run on; by default this one. Called between blocks.
  [[nodiscard]] virtual MachineReading read_machine() const;
  /// The same of the other machines of the job, as far as they answer; by default there are none.
  /// Called between blocks.
  [[nodiscard]] virtual std::vector<NodeReading> read_other_nodes();
};

}  // namespace cachebisect
