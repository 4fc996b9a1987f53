// Tar archives that are compressed with gzip or Zstandard: their content, from its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {

enum class Packing { none, gzip, zstd };

/// By the first bytes; `none` also for what no Unpacker reads.
[[nodiscard]] CACHEBISECT_INTERNAL_API Packing packing_of(const ByteSource& file);
/// "gzip", and the command that writes the content to its output.
struct PackingName {
  std::string name;
  std::string command;
};
[[nodiscard]] PackingName packing_name(Packing packing);

/// Reads a file from its beginning to its end. One thread at a time.
class CACHEBISECT_INTERNAL_API Unpacker {
 public:
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker();

  /// Fills `out` as far as there is content, and returns how much there was. Throws Error(data)
  /// naming the file if it is damaged or cut short.
  virtual std::size_t read(std::span<std::byte> out) = 0;
  /// Bytes of the file that were needed so far.
  [[nodiscard]] virtual std::uint64_t consumed() const noexcept = 0;
};

/// Throws Error(data) if the file cannot be opened, Error(usage) if this build lacks the library.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::unique_ptr<Unpacker> make_unpacker(
    const std::string& path, Packing packing);

/// The whole content, in memory. Throws Error(data) as the above do, and for more than `most_bytes`
/// or than a file of this size has if it is no bomb.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::unique_ptr<const ByteSource> unpack(
    const std::string& path, Packing packing, std::uint64_t most_bytes);
/// Fills `out` with the whole content. Throws Error(data) as the above do, and if it has another
/// size.
CACHEBISECT_INTERNAL_API void unpack_into(const std::string& path, Packing packing,
                                          std::span<std::byte> out);

}  // namespace cachebisect::stages
