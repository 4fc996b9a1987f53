// What the metadata of a Zarr array says: its elements, its chunks, and how those are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stages/datasets/chunk_files.hpp"

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/dtype.hpp"
#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {

/// What was done to the bytes of a chunk before they were stored.
enum class ZarrCodec : std::uint8_t { gzip, zlib, zstd, blosc, crc32c };

/// The table of the chunks in a shard.
struct ZarrShardIndex {
  bool at_end = true;
  bool big_endian = false;
  bool has_checksum = false;
};

/// Elements are in C order. Nothing here is too large to be computed with: bytes of the array are
/// at most 2^62, those of a chunk at most kMostChunkBytes.
struct ZarrArray {
  static constexpr std::uint64_t kMostChunkBytes = std::uint64_t{1} << 30U;
  /// Its table has 16 bytes for each.
  static constexpr std::int64_t kMostChunksPerShard = std::int64_t{1} << 21U;

  std::string path;    ///< of the folder, or its address on a server
  std::string object;  ///< that of object_line() for the metadata; empty: it is a file
  Shape shape;
  Shape chunk;  ///< what is decoded at once; those at the edge are as large
  DType dtype = DType::uint8;
  bool big_endian = false;
  std::vector<std::byte> fill;    ///< one element
  std::vector<ZarrCodec> codecs;  ///< in the order in which they were applied
  Shape file_chunk;               ///< what a file holds: a shard, or a chunk
  bool sharded = false;
  ZarrShardIndex shard_index;  ///< if sharded
  std::string key_prefix;      ///< of the names of files: "c" in version 3
  char separator = '.';        ///< between the numbers in these names

  [[nodiscard]] std::size_t chunk_bytes() const noexcept {
    return static_cast<std::size_t>(chunk.elements()) * size_of(dtype);
  }
};

/// Reads `.zarray` (version 2) or `zarr.json` (version 3) in the folder `path`, or at that address.
/// Throws Error(data) that names the file for what is damaged, larger than above, or not supported:
/// Fortran order, filters, other elements than DType has, other codecs than ZarrCodec has.
[[nodiscard]] CACHEBISECT_INTERNAL_API ZarrArray load_zarr_array(const std::string& path,
                                                                 const ChunkFiles& files);

}  // namespace cachebisect::stages
