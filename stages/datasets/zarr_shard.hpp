// The table of a Zarr shard: where each of its chunks is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "stages/datasets/chunk_file.hpp"
#include "stages/datasets/zarr_array.hpp"

namespace cachebisect::stages {

/// Bytes of the table of a shard with so many chunks, with its checksum.
[[nodiscard]] std::size_t shard_table_bytes(const ZarrShardIndex& index, std::size_t chunks);

/// Fills `table`, which has that many bytes. Throws Error(data) that names the shard if it is too
/// short, or if the table does not match its checksum.
void read_shard_table(const ChunkFile& shard, const ZarrShardIndex& index,
                      std::span<std::byte> table);

struct ShardPart {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Where the chunk with this number lies in the shard; empty if it is missing. Throws Error(data)
/// that names the shard if it would lie beyond its end.
[[nodiscard]] std::optional<ShardPart> find_in_shard(const ChunkFile& shard,
                                                     const ZarrShardIndex& index,
                                                     std::span<const std::byte> table,
                                                     std::size_t chunk);

}  // namespace cachebisect::stages
