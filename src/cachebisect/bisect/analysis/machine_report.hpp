// The machine's part of a report.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Processor, CPUs, memory, system, and what disturbed it; the rest of the noise and the floor are
/// empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API MachineReport describe_machine(const MachineInfo& machine,
                                                                      const Disturbance& seen);
/// The same with noise and floor as the rounds show them.
[[nodiscard]] CACHEBISECT_INTERNAL_API MachineReport describe_machine(const Measurements& measured);

}  // namespace cachebisect
