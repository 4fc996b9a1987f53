// Pipelines on which the cost of inline observation is measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::probe_cost {

/// A source, three sample stages that share `microseconds` of arithmetic per sample, collate, copy.
/// The work is a fixed number of operations: unlike planted costs, it does not shrink to make up
/// for the time of probes.
struct WorkCase {
  std::string name;
  double microseconds = 0;  ///< per sample; 0: stages that do nothing
  std::int64_t batch_size = 32;
};

/// Stages that do nothing, then 4 us, 12 us, 50 us and 1 ms per sample.
std::vector<WorkCase> work_cases();

/// Times the arithmetic once, so that all cases of a process are based on the same measurement.
class WorkFactory {
 public:
  WorkFactory();
  /// For the cpu device, or for an emulated device whose steps take no time.
  [[nodiscard]] Pipeline make(const WorkCase& work, bool emulated) const;

 private:
  double rounds_per_microsecond_;
};

}  // namespace cachebisect::probe_cost
