// What making samples asks of storage: files and requests to servers.
#pragma once

#include <cstdint>
#include <optional>

namespace cachebisect {

/// Sums over all workers that made samples, unless said otherwise.
struct StorageCounts {
  std::uint64_t samples = 0;
  int workers = 0;     ///< that made some
  double seconds = 0;  ///< in which the samples were made, all their stages included
  std::optional<std::uint64_t> file_opens;
  std::uint64_t file_reads = 0;      ///< system calls
  double file_bytes = 0;             ///< that these reads returned
  std::optional<double> disk_bytes;  ///< of them, those that were not in memory
  std::uint64_t page_faults = 0;     ///< of memory mapped files, that waited for the disk
  std::uint64_t requests = 0;
  double request_seconds = 0;
  double waiting_seconds = 0;        ///< with a request in flight, or several
  std::uint64_t most_in_flight = 0;  ///< in one worker
  double received_bytes = 0;
  std::uint64_t connections = 0;
  std::uint64_t clients = 0;    ///< client objects made
  std::uint64_t throttled = 0;  ///< answers 429 and 503
  std::uint64_t failed = 0;     ///< other answers from 500 on, and requests without an answer
  std::uint64_t reopened = 0;   ///< files and URLs that the worker had asked for before
};

/// How many samples are counted.
struct StorageRequest {
  std::uint64_t samples = 0;  ///< about
  double max_seconds = 0;     ///< of each worker, after which it makes no more
};

}  // namespace cachebisect
