// What tune() asks of the job that it tunes.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// Both parts in one: the job with a change, against the job without.
struct Comparison {
  LogRatio gain;       ///< log(throughput with it / without)
  double seconds = 0;  ///< of measuring
};

/// A job, the best version so far. Its members throw Error(interrupted) on a stop.
class CACHEBISECT_INTERNAL_API Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject();

  /// A report on the best version so far.
  [[nodiscard]] virtual Report diagnose(double budget_seconds) = 0;
  /// False if only the first version can be diagnosed.
  [[nodiscard]] virtual bool diagnoses_again() const = 0;
  /// Writes what the trial needs to scratch, and sets its edits and its folder. Throws Error for
  /// what cannot be written.
  virtual void make(Trial& trial, double samples_per_second);
  /// Removes what make() wrote for a trial that does not gain. False if it stays.
  virtual bool discard(const Trial& trial);
  /// In turns. Throws Error for a change that cannot be run.
  [[nodiscard]] virtual Comparison compare(const std::vector<Edit>& edits,
                                           double budget_seconds) = 0;
  virtual void keep(const std::vector<Edit>& edits) = 0;
  /// The best version so far, as a JSON object.
  [[nodiscard]] virtual std::string json() const = 0;
};

}  // namespace cachebisect::tune
