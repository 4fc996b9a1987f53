#include "cachebisect/chunks/chunk_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

constexpr int kSmallestPower = -3;
constexpr int kLargestPower = 4;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

std::uint64_t product(std::uint64_t a, std::uint64_t b, const ChunkShape& shape) {
  std::uint64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  refuse(shape_text(shape) + ": its chunks or bytes do not fit a 64-bit number");
}

std::uint64_t bytes_of(const ChunkShape& shape, std::uint64_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t extent : shape) bytes = product(bytes, extent, shape);
  return bytes;
}

/// Whole bytes, at least one.
std::uint64_t stored_bytes(const ChunkShape& chunk, const ChunkQuestion& question) {
  const std::uint64_t bytes = bytes_of(chunk, question.element_bytes);
  if (question.compression == 1) return bytes;
  const long double stored = std::round(static_cast<long double>(bytes) / question.compression);
  if (stored >= static_cast<long double>(std::numeric_limits<std::uint64_t>::max())) {
    refuse(shape_text(chunk) + ": its bytes do not fit a 64-bit number");
  }
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(stored));
}

/// A sample touches `fewest` chunks along one dimension, or one more.
struct ChunkPlaces {
  std::uint64_t fewest = 0;
  double one_more = 0;  ///< share of the places where it may begin at which it touches one more

  [[nodiscard]] std::uint64_t most() const { return one_more > 0 ? fewest + 1 : fewest; }
};

/// Over all places where the sample may begin. `array`: extent that it stays within; empty: without
/// end. All are at least 1, and the sample is not larger than the array.
///
/// A sample that begins o elements into a chunk ends in chunk (o + sample - 1) / chunk after it.
/// With sample - 1 = q chunk + r that is q for the first chunk - r values of o, and q + 1 for the
/// other r.
ChunkPlaces chunk_places(std::uint64_t sample, std::uint64_t chunk,
                         const std::optional<std::uint64_t>& array) {
  const std::uint64_t q = (sample - 1) / chunk;
  const std::uint64_t r = (sample - 1) % chunk;
  if (!array) return {q + 1, static_cast<double>(r) / static_cast<double>(chunk)};
  const std::uint64_t last_place = *array - sample;  // one less than the number of places
  std::uint64_t whole = last_place / chunk;
  std::uint64_t rest = last_place % chunk + 1;
  if (rest == chunk) {
    ++whole;
    rest = 0;
  }
  const std::uint64_t crossing_rest = rest - std::min(rest, chunk - r);
  const double crossing =
      static_cast<double>(whole) * static_cast<double>(r) + static_cast<double>(crossing_rest);
  return {q + 1, crossing / (static_cast<double>(last_place) + 1)};
}

/// The share of the places at which a sample touches so many chunks.
using CountShares = std::map<std::uint64_t, double>;

CountShares with_dimension(const CountShares& counts, const ChunkPlaces& places) {
  CountShares result;
  for (const auto& [count, share] : counts) {
    if (places.one_more < 1) result[count * places.fewest] += share * (1 - places.one_more);
    if (places.one_more > 0) result[count * places.most()] += share * places.one_more;
  }
  return result;
}

void add_seconds(ChunkRow& row, const CountShares& counts, const RequestCosts& costs) {
  double turns = 0;
  for (const auto& [count, share] : counts) {
    const std::uint64_t full_turns = (count - 1) / costs.parallel;
    turns += share * static_cast<double>(full_turns + 1);
  }
  row.request_seconds = turns * costs.latency_seconds;
  row.transfer_seconds = row.mean_bytes / costs.bytes_per_second;
}

ChunkRow make_row(const ChunkQuestion& question, const ChunkShape& chunk) {
  ChunkRow row{.chunk = chunk, .min_chunks = 1, .max_chunks = 1};
  std::vector<ChunkPlaces> dimensions;
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    const auto array = question.array ? std::optional(question.array->at(d)) : std::nullopt;
    dimensions.push_back(chunk_places(question.sample[d], chunk[d], array));
    row.min_chunks = product(row.min_chunks, dimensions.back().fewest, chunk);
    row.max_chunks = product(row.max_chunks, dimensions.back().most(), chunk);
  }
  const std::uint64_t stored = stored_bytes(chunk, question);
  row.min_bytes = product(row.min_chunks, stored, chunk);
  row.max_bytes = product(row.max_chunks, stored, chunk);
  CountShares counts{{1, 1.0}};
  for (const ChunkPlaces& places : dimensions) counts = with_dimension(counts, places);
  for (const auto& [count, share] : counts) row.mean_chunks += share * static_cast<double>(count);
  row.mean_bytes = row.mean_chunks * static_cast<double>(stored);
  if (question.requests) add_seconds(row, counts, *question.requests);
  return row;
}

void check_dimensions(const ChunkQuestion& question, const ChunkShape& shape, const char* what) {
  if (shape.size() == question.sample.size()) return;
  refuse(std::string(what) + " " + shape_text(shape) + " has " + std::to_string(shape.size()) +
         (shape.size() == 1 ? " dimension" : " dimensions") + ", the sample " +
         shape_text(question.sample) + " has " + std::to_string(question.sample.size()));
}

void check_extents(const ChunkShape& shape) {
  if (!shape.empty() && std::find(shape.begin(), shape.end(), 0U) == shape.end()) return;
  refuse("a sample, chunk or array has one or more dimensions, and each is at least 1");
}

void check_array(const ChunkQuestion& question) {
  if (!question.array) return;
  check_extents(*question.array);
  check_dimensions(question, *question.array, "the array");
  for (std::size_t d = 0; d < question.sample.size(); ++d) {
    if (question.sample[d] <= question.array->at(d)) continue;
    refuse("the sample " + shape_text(question.sample) + " is larger than the array " +
           shape_text(*question.array));
  }
}

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

void check(const ChunkQuestion& question) {
  check_extents(question.sample);
  check_array(question);
  if (question.chunks.empty()) refuse("one or more chunk shapes are needed");
  for (const ChunkShape& chunk : question.chunks) {
    check_extents(chunk);
    check_dimensions(question, chunk, "the chunk");
  }
  if (!is_positive(question.compression)) refuse("the compression ratio is greater than 0");
  if (!question.requests) return;
  const RequestCosts& costs = *question.requests;
  const bool waits = costs.latency_seconds >= 0 && std::isfinite(costs.latency_seconds);
  if (!waits) refuse("the latency of a request is 0 or more");
  if (!is_positive(costs.bytes_per_second)) refuse("the bandwidth is greater than 0");
  if (costs.parallel == 0) refuse("one or more requests are in flight");
}

/// The index of the row with the smallest figure; of equal ones, that with the smaller second
/// figure.
template <class First, class Second>
std::size_t smallest(const std::vector<ChunkRow>& rows, First first, Second second) {
  const auto less = [&](const ChunkRow& a, const ChunkRow& b) {
    return first(a) != first(b) ? first(a) < first(b) : second(a) < second(b);
  };
  return static_cast<std::size_t>(std::min_element(rows.begin(), rows.end(), less) - rows.begin());
}

}  // namespace

std::vector<ChunkShape> usual_chunks(const ChunkShape& sample) {
  std::vector<ChunkShape> chunks;
  for (int power = kSmallestPower; power <= kLargestPower; ++power) {
    ChunkShape chunk;
    for (const std::uint64_t extent : sample) {
      const std::uint64_t factor = std::uint64_t{1} << static_cast<unsigned>(std::abs(power));
      chunk.push_back(power < 0 ? std::max<std::uint64_t>(1, extent / factor)
                                : product(extent, factor, sample));
    }
    if (chunks.empty() || chunks.back() != chunk) chunks.push_back(chunk);
  }
  return chunks;
}

ChunkTable make_chunk_table(const ChunkQuestion& question) {
  check(question);
  ChunkTable table{.question = question,
                   .sample_bytes = bytes_of(question.sample, question.element_bytes)};
  for (const ChunkShape& chunk : question.chunks) table.rows.push_back(make_row(question, chunk));
  const auto bytes = [](const ChunkRow& row) { return row.mean_bytes; };
  const auto requests = [](const ChunkRow& row) { return row.mean_chunks; };
  table.fewest_bytes = smallest(table.rows, bytes, requests);
  table.fewest_requests = smallest(table.rows, requests, bytes);
  if (question.requests) {
    const auto seconds = [](const ChunkRow& row) { return *row.seconds(); };
    table.fastest = smallest(table.rows, seconds, bytes);
  }
  return table;
}

}  // namespace cachebisect
