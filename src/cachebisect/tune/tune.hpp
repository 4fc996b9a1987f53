// From a verdict to a gain: changes of a job are predicted, run against the best so far, and kept
// if they gain.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/bisect_options.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::tune {

/// A change that was tried.
struct Trial {
  std::string id;    ///< of the remedy
  std::string text;  ///< "use 4 workers instead of 2"
  std::vector<Edit> edits;
  std::vector<std::string> lines{};  ///< of code to change; empty for pipeline files
  Estimate predicted{};              ///< share of throughput gained, by the cost model
  Estimate measured{};               ///< share gained, in turns with the best so far
  bool kept = false;
  std::string fault{};                         ///< why it could not be run
  std::optional<double> samples_per_second{};  ///< of the job with it, if it was kept
  std::optional<double> step_seconds{};        ///< likewise, of one training step
  /// The stage behind which it writes the data set once, to read it from there; empty: none.
  std::string written_after{};
  std::string folder{};  ///< what it wrote, and uses; empty: nothing
  bool removed = false;  ///< the folder was, as the change does not gain

  /// True if it can only be tried with a folder to write to.
  [[nodiscard]] CACHEBISECT_INTERNAL_API bool needs_scratch() const noexcept;
};

/// How a job was tuned. A plain value.
struct Result {
  std::string name;
  std::string device;
  Estimate start;                       ///< samples/s, in one piece if it was run so
  std::optional<double> start_seconds;  ///< of one training step
  Estimate best;                        ///< samples/s, by the last diagnosis
  Estimate ceiling;                     ///< samples/s, by the last diagnosis
  std::vector<Trial> trials;
  std::vector<Trial> untried;  ///< what could be tried with a scratch folder
  std::string verdict;         ///< the sentence of the last diagnosis
  std::string end;             ///< why it ended, in words
  double seconds = 0;          ///< of measuring
  bool interrupted = false;
  std::string pipeline_json;  ///< the best one, whole; of a script, the settings that were kept

  [[nodiscard]] CACHEBISECT_INTERNAL_API int kept() const noexcept;
};

struct Options {
  double budget_seconds = 120;  ///< of measuring, diagnoses included
  double confidence = 0.99;
  std::optional<double> target_samples_per_second{};  ///< enough; empty: the ceiling
  bool allow_semantic = false;  ///< also try what changes training: batch size, precision
  /// A folder for trials that write a cache or a data set; made if it is missing. Empty: they are
  /// not tried.
  std::string scratch{};
  /// An earlier result to go on from: its trials are shown, and those that were not kept are not
  /// repeated.
  std::optional<Result> resumed{};
  std::uint64_t seed = 1;
  /// What begins, "trying: use 4 workers", and how far writing is.
  std::function<void(const std::string&)> announce{};
  std::function<void(const Progress&)> progress{};
  std::stop_token stop{};  ///< what was reached is returned
};

/// Diagnoses, tries what the remedies and the cost model promise, keeps what gains for certain, and
/// diagnoses again, until the step is the limit, the target is reached, nothing gains, or the
/// budget ends. `registry` must be that of the spec. Throws as open_job() and bisect() do before
/// the first diagnosis ends, and Error(usage) for a scratch folder that cannot be one; a change
/// that cannot be run is a trial with a fault.
[[nodiscard]] CACHEBISECT_INTERNAL_API Result tune(const PipelineSpec& spec,
                                                   const Registry& registry,
                                                   const Options& options);

/// The same for a job that is changed by the overrides of its live arms, such as a script: it is
/// diagnosed once, and every change is run against the best so far. What it writes to the scratch
/// folder is written by its adapter.
[[nodiscard]] CACHEBISECT_INTERNAL_API Result tune(Replayer& replayer, const Options& options);

}  // namespace cachebisect::tune
