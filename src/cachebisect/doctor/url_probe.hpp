// What a server of objects gives over HTTP: by the size of reads, and by how many are in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/doctor/storage_probe.hpp"
#include "cachebisect/doctor/storage_table.hpp"

namespace cachebisect {

struct UrlProbe {
  std::vector<std::string> urls;  ///< of http or https; the first few hundred are read
  double seconds = 10;            ///< of all rows together, about
  std::uint64_t most_bytes = std::uint64_t{2} << 30U;  ///< of all reads together, about
};

struct UrlFacts {
  std::string server;            ///< "http://host:port", or how many there are
  std::size_t objects = 0;       ///< that were read
  std::size_t unreadable = 0;    ///< that could not be, or hold nothing
  double median_bytes = 0;       ///< of an object
  bool has_parts = false;        ///< the server sends parts of objects
  std::vector<StorageRow> rows;  ///< disk: for the first time, memory: the same reads again
  std::uint64_t requests = 0;
  std::uint64_t throttled = 0;  ///< of these: answered with 429 or 503
  std::uint64_t failed = 0;     ///< of these: without what was asked for
  std::uint64_t connections = 0;
  double connect_seconds = 0;  ///< of a new connection, with TLS, median
  std::uint64_t bytes = 0;     ///< of objects, received
  std::string first_failure;   ///< what the first failed request said; empty: none failed
  std::string problem;         ///< why nothing was measured; else empty
};

/// Reads parts of the objects, and whole ones, several at once over connections that are kept.
/// Throws Error(usage) if there is no HTTP client, and Error(interrupted) on `stop`.
[[nodiscard]] CACHEBISECT_INTERNAL_API UrlFacts probe_urls(const UrlProbe& probe,
                                                           const std::stop_token& stop);
/// A table of the rows, what the server refused, and a sentence on `needs`, if they are known.
[[nodiscard]] CACHEBISECT_INTERNAL_API Document
server_document(const UrlFacts& facts, const std::optional<StorageNeeds>& needs);

}  // namespace cachebisect
