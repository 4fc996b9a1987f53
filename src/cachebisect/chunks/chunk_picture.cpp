#include "cachebisect/chunks/chunk_writers.hpp"

namespace cachebisect {
namespace {

constexpr double kMillisecondsPerSecond = 1e3;

std::string title(const ChunkTable& table, const char* what) {
  return std::string(what) + " of a sample of " + shape_text(table.question.sample);
}

std::string labelled_bytes(const ChunkTable& table) {
  return std::to_string(table.question.element_bytes) +
         (table.question.element_bytes == 1 ? " byte" : " bytes") +
         " per element; each chunk is read whole, by a request of its own";
}

template <class Value>
Series series(const ChunkTable& table, const char* name, const Value& value) {
  Series result{.name = name, .values = {}};
  for (const ChunkRow& row : table.rows) result.values.push_back(static_cast<double>(value(row)));
  return result;
}

/// What a sample waits for.
BarChart times(const ChunkTable& table) {
  return {.caption = {.title = title(table, "Reading time"),
                      .subtitle = labelled_bytes(table),
                      .x_label = "chunk shape",
                      .y_label = "ms per sample, mean over all places"},
          .series = {series(table, "waiting for requests",
                            [](const ChunkRow& row) {
                              return kMillisecondsPerSecond * *row.request_seconds;
                            }),
                     series(table, "transfer", [](const ChunkRow& row) {
                       return kMillisecondsPerSecond * *row.transfer_seconds;
                     })}};
}

BarChart counts(const ChunkTable& table) {
  return {
      .caption = {.title = title(table, "Chunks and bytes"),
                  .subtitle = labelled_bytes(table),
                  .x_label = "chunk shape",
                  .y_label = "per sample"},
      .series = {series(table, "chunks, at least", [](const ChunkRow& r) { return r.min_chunks; }),
                 series(table, "chunks, at most", [](const ChunkRow& r) { return r.max_chunks; }),
                 series(table, "bytes, at least", [](const ChunkRow& r) { return r.min_bytes; }),
                 series(table, "bytes, at most", [](const ChunkRow& r) { return r.max_bytes; })},
      .stacked = false,
      .y_scale = Scale::log};
}

}  // namespace

Picture chunk_picture(const ChunkTable& table) {
  BarChart chart = table.fastest ? times(table) : counts(table);
  for (const ChunkRow& row : table.rows) chart.categories.push_back(shape_text(row.chunk));
  return chart;
}

}  // namespace cachebisect
