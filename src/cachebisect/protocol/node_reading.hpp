// Counters of another machine of a job, read by that machine.
#pragma once

#include <string>

#include "cachebisect/base/machine_reading.hpp"

namespace cachebisect {

struct NodeReading {
  std::string node;         ///< its name (NodeDescription)
  MachineReading counters;  ///< `seconds` of that machine's own clock
};

}  // namespace cachebisect
