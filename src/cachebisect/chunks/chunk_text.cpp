#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/chunks/chunk_writers.hpp"
#include "cachebisect/format/document/render.hpp"

namespace cachebisect {
namespace {

std::string times(double factor) { return format_number(factor) + " times"; }

std::string requests(double count) {
  return format_number(count) + (count == 1 ? " request" : " requests");
}

std::uint64_t stored_bytes(const ChunkRow& row) { return row.min_bytes / row.min_chunks; }

std::string heading(const ChunkTable& table) {
  const ChunkQuestion& asked = table.question;
  const auto bytes = static_cast<double>(table.sample_bytes);
  std::string text =
      "a sample of " + shape_text(asked.sample) + ", " + std::to_string(asked.element_bytes) +
      (asked.element_bytes == 1 ? " byte" : " bytes") + " per element: " + format_bytes(bytes);
  if (asked.array) text += ", out of an array of " + shape_text(*asked.array);
  if (asked.compression != 1) {
    text += "; chunks are stored " + times(asked.compression) + " smaller";
  }
  return text;
}

document::Table rows(const ChunkTable& table) {
  document::Table all{.columns = {{"chunk size"},
                                  {"min chunks", Align::right},
                                  {"max chunks", Align::right},
                                  {"min bytes", Align::right},
                                  {"max bytes", Align::right}}};
  if (table.fastest) all.columns.push_back({"mean time", Align::right});
  for (const ChunkRow& row : table.rows) {
    document::Row cells{shape_text(row.chunk), format_count(row.min_chunks),
                        format_count(row.max_chunks), format_count(row.min_bytes),
                        format_count(row.max_bytes)};
    if (table.fastest) cells.emplace_back(short_duration(row.seconds().value_or(0)));
    all.rows.push_back(std::move(cells));
  }
  return all;
}

/// "5.0 kB per sample in 79 requests".
std::string mean_of(const ChunkRow& row) {
  return format_bytes(row.mean_bytes) + " per sample in " + requests(row.mean_chunks);
}

std::string fewest_bytes(const ChunkTable& table) {
  const ChunkRow& row = table.rows[table.fewest_bytes];
  const double share = row.mean_bytes / static_cast<double>(table.sample_bytes);
  return "Fewest bytes: " + shape_text(row.chunk) + ", " + mean_of(row) + ", " + times(share) +
         " the sample's own: its chunks reach the least beyond the sample.";
}

std::string fewest_requests(const ChunkTable& table) {
  const ChunkRow& row = table.rows[table.fewest_requests];
  return "Fewest requests: " + shape_text(row.chunk) + ", " + mean_of(row) +
         ": samples cross the edges of its chunks the least often.";
}

const ChunkRow* of_sample(const ChunkTable& table) {
  for (const ChunkRow& row : table.rows) {
    if (row.chunk == table.question.sample) return &row;
  }
  return nullptr;
}

/// The usual compromise, where time does not decide.
std::string between(const ChunkTable& table) {
  const ChunkRow* const row = of_sample(table);
  const bool best =
      row == &table.rows[table.fewest_bytes] || row == &table.rows[table.fewest_requests];
  if (row == nullptr || best) return {};
  return "Between the two: " + shape_text(row->chunk) + ", the sample's own shape, " +
         mean_of(*row) + ".";
}

/// The row whose chunks are the next smaller (or larger) ones.
const ChunkRow* neighbour(const ChunkTable& table, const ChunkRow& row, bool smaller) {
  const ChunkRow* nearest = nullptr;
  for (const ChunkRow& other : table.rows) {
    const bool beyond =
        smaller ? stored_bytes(other) < stored_bytes(row) : stored_bytes(other) > stored_bytes(row);
    if (!beyond) continue;
    const bool nearer =
        nearest == nullptr || (smaller ? stored_bytes(other) > stored_bytes(*nearest)
                                       : stored_bytes(other) < stored_bytes(*nearest));
    if (nearer) nearest = &other;
  }
  return nearest;
}

/// " 32x32 takes 59 ms: it needs more requests."
std::string why_slower(const ChunkRow* row, const ChunkRow& best) {
  if (row == nullptr) return {};
  const bool waits = *row->request_seconds > *best.request_seconds;
  const bool brings = *row->transfer_seconds > *best.transfer_seconds;
  std::string text = " " + shape_text(row->chunk) + " takes " + short_duration(*row->seconds());
  if (waits || brings) text += ": it needs more ";
  if (waits) text += "requests";
  if (waits && brings) text += " and ";
  if (brings) text += "bytes from outside the sample";
  return text + ".";
}

std::string least_time(const ChunkTable& table) {
  const ChunkRow& row = table.rows[*table.fastest];
  const RequestCosts& costs = *table.question.requests;
  std::string text = "Least time: " + shape_text(row.chunk) + ", " +
                     short_duration(*row.seconds()) + " per sample, of which " +
                     short_duration(*row.request_seconds) + " for requests of " +
                     short_duration(costs.latency_seconds);
  if (costs.parallel > 1) text += " (" + format_count(costs.parallel) + " in flight)";
  text += " and " + short_duration(*row.transfer_seconds) + " for " + format_bytes(row.mean_bytes) +
          " at " + format_bytes(costs.bytes_per_second) + "/s.";
  return text + why_slower(neighbour(table, row, true), row) +
         why_slower(neighbour(table, row, false), row);
}

constexpr const char* kHowRead =
    "(A chunk is read whole, by a request of its own. Minimum: the sample begins where a chunk "
    "does; maximum: at the worst place. Below, the mean over all places.)";
constexpr const char* kTimeDecides =
    "Which of them is best is a question of time: with --latency MS and --bandwidth BYTES of the "
    "storage, the fastest is named.";

}  // namespace

std::string chunk_text(const ChunkTable& table, const TextOptions& options) {
  Document all;
  all.say(heading(table), 2);
  all.gap();
  all.add(rows(table));
  all.say(kHowRead);
  all.gap();
  if (table.fastest) all.say(document::strong(least_time(table)), 2);
  all.say(fewest_bytes(table), 2);
  all.say(fewest_requests(table), 2);
  if (!table.fastest) {
    all.say(between(table), 2);
    all.say(kTimeDecides, 2);
  }
  return to_text(all, options);
}

}  // namespace cachebisect
