// Writers of a chunk table: text for a terminal, CSV, a picture.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/chunks/chunk_table.hpp"
#include "cachebisect/format/picture/picture.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect {

/// The table, which chunks read the fewest bytes, need the fewest requests and take the least time,
/// and why.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string chunk_text(const ChunkTable& table,
                                                              const TextOptions& options);
/// A row per chunk shape; times are empty where the costs of a request are not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string chunk_csv(const ChunkTable& table);

/// The mean time of a sample by its parts; chunks and bytes where the costs of a request are not
/// known.
[[nodiscard]] CACHEBISECT_INTERNAL_API Picture chunk_picture(const ChunkTable& table);

}  // namespace cachebisect
