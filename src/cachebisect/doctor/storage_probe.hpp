// What the storage behind a folder gives: by the size of reads, and by how many are in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct ReadRate {
  double bytes_per_second = 0;
  double median_seconds = 0;  ///< of one read
  std::uint64_t reads = 0;
};

/// One way of reading.
struct StorageRow {
  std::size_t read_bytes = 0;  ///< 0: whole files, each opened and closed
  int in_flight = 1;           ///< reads at once
  /// Reads of pages that were dropped from memory before; empty if that does not work here.
  std::optional<ReadRate> disk;
  std::optional<ReadRate> memory;  ///< of the same reads, made again
};

struct StorageFacts {
  std::string folder;
  std::size_t files = 0;         ///< of the folder, that were read
  double median_file_bytes = 0;  ///< of these files
  bool own_file = false;         ///< the folder has too little: a file of ours was read
  std::vector<StorageRow> rows;
  std::string problem;  ///< why nothing was read; else empty
};

struct StorageProbe {
  std::string folder;
  bool evicts = true;                              ///< pages can be dropped from memory there
  double row_seconds = 0.25;                       ///< most time of a row, per state of memory
  std::size_t own_bytes = std::size_t{64} << 20U;  ///< of a file of ours
};

/// Reads files of the folder at random, links followed, at most some thousand; writes only if they
/// are too few, and then a file without a name. Does not throw for a folder that cannot be used;
/// throws Error(interrupted) on `stop`.
CACHEBISECT_INTERNAL_API StorageFacts probe_storage(const StorageProbe& probe,
                                                    const std::stop_token& stop);

}  // namespace cachebisect
