// Reads boxes of a Zarr array: only the chunks that they touch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/array_box.hpp"
#include "stages/datasets/chunk_file.hpp"
#include "stages/datasets/chunk_files.hpp"
#include "stages/datasets/recent_bytes.hpp"
#include "stages/datasets/zarr_array.hpp"
#include "stages/datasets/zarr_decoder.hpp"

#include "cachebisect/base/object_pool.hpp"
#include "cachebisect/data/memory.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// Thread safe. Each thread that reads keeps tables of shards, up to 32 MB of them, and the chunks
/// that it decoded last, if they are to be kept.
class CACHEBISECT_INTERNAL_API ZarrReader {
 public:
  /// `cache_bytes`: of chunks that a thread keeps; 0: none. `store`: holds the chunks; null: files.
  /// Throws Error(usage) if this build cannot decode the chunks.
  ZarrReader(ZarrArray array, std::size_t cache_bytes,
             std::shared_ptr<const RemoteStore> store = nullptr);
  ~ZarrReader();
  ZarrReader(const ZarrReader&) = delete;
  ZarrReader& operator=(const ZarrReader&) = delete;

  [[nodiscard]] const ZarrArray& array() const noexcept { return array_; }
  /// Throws Error(data) if there is no file of a chunk: all of the array would be its fill value.
  /// On a server, if there are no some_objects().
  void require_chunks() const;
  /// On a server, object_line() of up to 16 files of chunks all over the array, one per line; empty
  /// if none of them is there.
  [[nodiscard]] std::string some_objects() const;
  /// Writes the elements of a box within the array to `out`, densely and in this machine's byte
  /// order. Throws Error(data) that names the file of a damaged chunk.
  void read(const ArrayBox& box, std::byte* out) const;
  /// The files of the chunks that a box touches, whole; those of missing chunks too.
  [[nodiscard]] std::vector<FileRange> files(const ArrayBox& box) const;
  /// How many chunks were decoded so far.
  [[nodiscard]] std::uint64_t decoded() const noexcept { return decoded_; }

 private:
  /// A chunk of a shard on a server, as it is stored there.
  struct Part {
    Shape number;
    std::span<std::byte> stored;
    std::shared_ptr<const ByteSource> shard;
  };

  /// What a thread keeps from one box to the next.
  struct Kept {
    explicit Kept(std::size_t chunk_bytes);
    RecentBytes chunks;
    RecentBytes tables;
    Arena scratch;  ///< of one chunk; of all that are read ahead
    /// Chunks of this box that were asked for at once, by the numbers of their files.
    std::vector<std::pair<Shape, std::optional<ChunkFile>>> ahead;
    std::vector<Part> parts;  ///< likewise, of shards
  };

  /// Reads a box from a server, several chunks at once.
  void read_groups(const ArrayBox& box, std::byte* out, Kept& kept) const;
  /// Opens the files of these chunks at once, but for those that are kept.
  void open_ahead(std::span<const Shape> numbers, Kept& kept) const;
  /// Reads these chunks out of their shards at once, but for those that are kept.
  void read_parts(std::span<const Shape> numbers, Kept& kept) const;
  [[nodiscard]] bool is_kept(const Shape& number, Kept& kept) const;
  void read_chunk(const Shape& number, const BoxBytes<std::byte>& out, Kept& kept) const;
  /// False if the chunk is missing.
  bool decode(const Shape& number, std::span<std::byte> chunk, Kept& kept) const;
  void decode_part(const ChunkFile& file, std::uint64_t offset, std::uint64_t bytes,
                   std::span<std::byte> chunk, Kept& kept) const;
  [[nodiscard]] std::span<const std::byte> shard_table(const ChunkFile& file, const Shape& shard,
                                                       Kept& kept) const;
  [[nodiscard]] bool has_chunk_file() const;
  [[nodiscard]] std::optional<ChunkFile> open(const Shape& file, Kept& kept) const;
  /// The most bytes that a chunk may have as it is stored.
  [[nodiscard]] std::size_t most_stored() const noexcept;
  [[nodiscard]] std::string path_of(const Shape& file) const;

  ZarrArray array_;
  ChunkFiles files_;
  ZarrDecoder decoder_;
  std::size_t cache_bytes_;
  Shape chunks_per_file_;
  mutable ObjectPool<Kept> kept_;
  mutable std::atomic<std::uint64_t> decoded_{0};
};

}  // namespace cachebisect::stages
