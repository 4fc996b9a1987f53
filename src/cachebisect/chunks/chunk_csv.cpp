#include "cachebisect/chunks/chunk_writers.hpp"
#include "cachebisect/format/csv_text.hpp"

namespace cachebisect {

std::string chunk_csv(const ChunkTable& table) {
  std::string text =
      csv_row({"chunk_size", "minimal_chunks", "maximal_chunks", "minimal_bytes", "maximal_bytes",
               "mean_chunks", "mean_bytes", "request_seconds", "transfer_seconds"});
  for (const ChunkRow& row : table.rows) {
    text += csv_row({csv_text(shape_text(row.chunk)), std::to_string(row.min_chunks),
                     std::to_string(row.max_chunks), std::to_string(row.min_bytes),
                     std::to_string(row.max_bytes), csv_number(row.mean_chunks),
                     csv_number(row.mean_bytes), csv_number(row.request_seconds),
                     csv_number(row.transfer_seconds)});
  }
  return text;
}

}  // namespace cachebisect
