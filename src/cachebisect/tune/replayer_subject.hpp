// A job whose changes are overrides of its live arms, such as a script, as what is tuned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/tune/script_scratch.hpp"
#include "cachebisect/tune/subject.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// Keeps references to the replayer and the options.
class CACHEBISECT_INTERNAL_API ReplayerSubject final : public Subject {
 public:
  /// Throws Error(usage) for a scratch folder that cannot be one.
  ReplayerSubject(Replayer& replayer, const Options& options);

  Report diagnose(double budget_seconds) override;
  [[nodiscard]] bool diagnoses_again() const override { return false; }
  void make(Trial& trial, double samples_per_second) override;
  bool discard(const Trial& trial) override { return scratch_ && scratch_->remove(trial); }
  Comparison compare(const std::vector<Edit>& edits, double budget_seconds) override;
  void keep(const std::vector<Edit>& edits) override { best_ = changed(edits); }
  [[nodiscard]] std::string json() const override;

 private:
  /// The chain, with the bytes of samples that the diagnosis has found.
  [[nodiscard]] ChainDescription described() const;
  /// Throws Error(usage) for edits that no live arm runs.
  [[nodiscard]] Arm changed(const std::vector<Edit>& edits) const;

  Replayer& replayer_;
  const Options& options_;
  std::optional<ScriptScratch> scratch_;
  std::vector<std::optional<double>> bytes_;  ///< of a sample behind each stage
  Arm best_;
};

}  // namespace cachebisect::tune
