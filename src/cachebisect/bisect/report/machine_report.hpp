// The machine's part of a report, from what base reads of it.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Processor, CPUs, memory and system; noise and floor are empty yet.
CACHEBISECT_API MachineReport describe_machine(const MachineInfo& machine);
/// Writes what was seen into the noise, and leaves the rest of it.
CACHEBISECT_API void fill_disturbance(Noise& noise, const Disturbance& seen);

}  // namespace cachebisect
