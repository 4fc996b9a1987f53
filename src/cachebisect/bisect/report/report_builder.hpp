// Makes the report of what was measured. Computes every figure; decides nothing.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/bisect/evidence/ledger.hpp"
#include "cachebisect/bisect/explain/explanation.hpp"
#include "cachebisect/bisect/explain/verify.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/search/plan.hpp"
#include "cachebisect/bisect/search/verdict.hpp"

namespace cachebisect {

/// All that is known when the measuring ends. Findings are empty while there is no complete round.
struct Measured {
  const BlockRunner& runner;
  const Plan& plan;
  Ledger& ledger;
  const Findings& findings;
  const Decision& decision;
  const Evidence& null_evidence;
  const MachineWatch& machine;
  std::optional<double> certified_after;
  bool interrupted = false;
  std::optional<double> verdict_after;  ///< measured seconds when the verdict's rounds ended
  double refill_seconds = 0;            ///< filling the caches anew took, while measuring
  std::vector<double> serve_seconds{};  ///< rho_k by boundary; empty: not known
  const Explanation* explanation = nullptr;
  std::vector<VerifiedArm> verified{};  ///< empty: nothing was asked to be run
};

class CACHEBISECT_API ReportBuilder {
 public:
  ReportBuilder(const ChainDescription& chain, const BisectOptions& options);

  void begin();  ///< reads the time of day and the machine
  void prepared(const CacheFacts& facts, double seconds);
  /// The report of what is known now; may be asked for again later.
  [[nodiscard]] Report make(const Measured& measured) const;

 private:
  void fill(const Measured& measured);
  void fill_verdict(const Measured& measured);
  void fill_needed(const Measured& measured);

  const BisectOptions* options_;
  Report report_;
};

/// Throughput, waterfall and inline figures of every boundary and stage.
CACHEBISECT_API void fill_waterfall(Report& report, const Measured& measured, double confidence);
/// "stages 4-7 together"; empty for a single stage.
CACHEBISECT_API std::string span_name(const Part& part);

}  // namespace cachebisect
