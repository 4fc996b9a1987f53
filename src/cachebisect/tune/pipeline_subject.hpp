// A pipeline file as what is tuned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline_spec.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/tune/scratch.hpp"
#include "cachebisect/tune/subject.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// Keeps references to the registry and the options.
class CACHEBISECT_INTERNAL_API PipelineSubject final : public Subject {
 public:
  /// Throws Error(usage) for a scratch folder that cannot be one.
  PipelineSubject(PipelineSpec spec, const Registry& registry, const Options& options);

  Report diagnose(double budget_seconds) override;
  [[nodiscard]] bool diagnoses_again() const override { return true; }
  void make(Trial& trial, double samples_per_second) override;
  bool discard(const Trial& trial) override;
  Comparison compare(const std::vector<Edit>& edits, double budget_seconds) override;
  void keep(const std::vector<Edit>& edits) override { spec_ = changed(edits); }
  [[nodiscard]] std::string json() const override;

 private:
  [[nodiscard]] PipelineSpec changed(const std::vector<Edit>& edits) const;
  [[nodiscard]] Job open(const PipelineSpec& spec, IoMode io = IoMode::as_is) const;

  PipelineSpec spec_;
  const Registry& registry_;
  const Options& options_;
  std::optional<Scratch> scratch_;
  IoMode io_ = IoMode::as_is;  ///< of the version that is compared next
};

}  // namespace cachebisect::tune
