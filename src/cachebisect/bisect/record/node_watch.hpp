// What disturbs the other machines of a job, by readings before, during and after the rounds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/protocol/node_reading.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_INTERNAL_API NodeWatch {
 public:
  void add(const std::vector<NodeReading>& readings);
  /// In the order in which the machines were first read.
  [[nodiscard]] std::vector<NodeDisturbance> seen() const;

 private:
  struct Watched {
    std::string node;
    std::optional<double> usable_cpus;
    MachineWatch watch;
  };
  std::vector<Watched> nodes_;
};

}  // namespace cachebisect
