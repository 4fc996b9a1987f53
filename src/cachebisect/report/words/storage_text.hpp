// What making samples asks of storage, in words.
#pragma once

#include <string>

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// "Reading a sample makes 1 request of 20 ms, at most 1 at once in a worker, each over a new
/// connection; it receives 67 kB."; empty if it was not counted.
[[nodiscard]] std::string storage_text(const Report& report);

}  // namespace cachebisect
