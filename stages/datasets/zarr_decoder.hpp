// Undoes the codecs of a Zarr chunk.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stages/datasets/zarr_array.hpp"

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/memory.hpp"

namespace cachebisect::stages {

/// Decompresses one kind of data. Thread safe.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Fills `out`. Throws Error(data), "what is wrong" alone, unless `stored` is exactly that many
  /// bytes, compressed.
  virtual void expand(std::span<const std::byte> stored, std::span<std::byte> out) const = 0;
};

/// gzip or zlib, zstd, Blosc. Throws Error(usage) that names the library if this build lacks it.
[[nodiscard]] std::unique_ptr<Decompressor> make_decompressor(ZarrCodec codec);

/// Thread safe.
class CACHEBISECT_INTERNAL_API ZarrDecoder {
 public:
  /// Throws Error(usage) as make_decompressor().
  explicit ZarrDecoder(std::vector<ZarrCodec> codecs);

  /// Whether chunks are stored as they are.
  [[nodiscard]] bool is_plain() const noexcept { return codecs_.empty(); }
  /// The most bytes in which a chunk of so many bytes can be stored.
  [[nodiscard]] static std::size_t most_stored(std::size_t chunk_bytes) noexcept;
  /// Fills `chunk`. Throws Error(data), "what is wrong" alone, if `stored` is no such chunk.
  void decode(std::span<const std::byte> stored, std::span<std::byte> chunk, Arena& scratch) const;

 private:
  std::vector<ZarrCodec> codecs_;
  std::unique_ptr<Decompressor> decompressor_;  ///< null: none is compressed
};

}  // namespace cachebisect::stages
