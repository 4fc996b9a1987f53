// What reading one sample out of a chunked array costs, for each of several chunk shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/chunks/chunk_shape.hpp"

namespace cachebisect {

/// What requests to the storage cost.
struct RequestCosts {
  double latency_seconds = 0;   ///< of one request, until its first byte
  double bytes_per_second = 0;  ///< of all requests in flight together
  std::uint64_t parallel = 1;   ///< requests in flight
};

struct ChunkQuestion {
  ChunkShape sample{64, 64};
  std::uint64_t element_bytes = 1;
  std::vector<ChunkShape> chunks{};   ///< those to compare
  std::optional<ChunkShape> array{};  ///< empty: without end
  double compression = 1;             ///< bytes of a chunk over its bytes in storage
  std::optional<RequestCosts> requests{};
};

/// A chunk is read whole, by a request of its own. Minimum: the sample begins where a chunk does;
/// maximum: at the worst place; mean: over all places in the array, each as likely.
struct ChunkRow {
  ChunkShape chunk;
  std::uint64_t min_chunks = 0;
  std::uint64_t max_chunks = 0;
  std::uint64_t min_bytes = 0;  ///< in storage
  std::uint64_t max_bytes = 0;
  double mean_chunks = 0;
  double mean_bytes = 0;
  std::optional<double> request_seconds;   ///< mean, of waiting for first bytes
  std::optional<double> transfer_seconds;  ///< mean

  [[nodiscard]] std::optional<double> seconds() const {
    if (!request_seconds || !transfer_seconds) return std::nullopt;
    return *request_seconds + *transfer_seconds;
  }
};

struct ChunkTable {
  ChunkQuestion question;
  std::uint64_t sample_bytes = 0;      ///< uncompressed
  std::vector<ChunkRow> rows;          ///< as asked
  std::size_t fewest_bytes = 0;        ///< row of the smallest mean
  std::size_t fewest_requests = 0;     ///< row of the smallest mean
  std::optional<std::size_t> fastest;  ///< empty: the costs of a request are not known
};

/// From an eighth of the sample to sixteen times the sample along each dimension, in powers of two.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<ChunkShape> usual_chunks(
    const ChunkShape& sample);

/// Throws Error(usage) for no chunks, dimensions that do not match, a sample larger than the array,
/// numbers out of range, and counts or bytes that do not fit 64 bits.
[[nodiscard]] CACHEBISECT_INTERNAL_API ChunkTable make_chunk_table(const ChunkQuestion& question);

}  // namespace cachebisect
