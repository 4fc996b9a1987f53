// Two jobs in one process, measured as if they were one.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Runs the live pipelines of two replayers: the live arm is that of the first, other_job() that of
/// the second. Neither needs caches. Keeps references to both, whose clocks must be the same.
class CACHEBISECT_INTERNAL_API JobPair final : public Replayer {
 public:
  JobPair(Replayer& a, Replayer& b) : a_(&a), b_(&b) {}
  ~JobPair() override;

  [[nodiscard]] static Arm other_job();

  /// The first job.
  [[nodiscard]] ChainDescription describe() const override { return a_->describe(); }
  [[nodiscard]] bool supports(const Arm& arm) const override;
  /// Fills nothing.
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override;
  void begin_round() override;
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override;
  [[nodiscard]] double clock() const override { return a_->clock(); }
  [[nodiscard]] MachineReading read_machine() const override { return a_->read_machine(); }

 private:
  Replayer* a_;
  Replayer* b_;
};

}  // namespace cachebisect
