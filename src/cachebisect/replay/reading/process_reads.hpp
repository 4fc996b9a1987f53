// What this process reads from files, as the kernel counts it.
#pragma once

#include <cstdint>
#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What all threads of the process have read.
struct ProcessReads {
  std::uint64_t page_faults = 0;  ///< that waited for the disk
  std::uint64_t reads = 0;        ///< system calls
  double bytes = 0;
  std::optional<double> disk_bytes;  ///< of them, those that were not in memory
};

/// Counts from its beginning on. Thread safe.
class CACHEBISECT_INTERNAL_API ReadCounter {
 public:
  ReadCounter();
  /// Until now; zeros and no `disk_bytes` where the system does not tell.
  [[nodiscard]] ProcessReads count() const;

 private:
  ProcessReads before_;
};

}  // namespace cachebisect
