// Files that are compressed with gzip or Zstandard: their content, from its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <span>
#include <string>
#include <string_view>

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
/// or than a file of this size has if it is no bomb; it then says to unpack the file to a new one
/// of this `ending`.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::unique_ptr<const ByteSource> unpack(
    const std::string& path, Packing packing, std::uint64_t most_bytes,
    std::string_view ending = ".tar");
/// Fills `out` with the whole content. Throws Error(data) as the above do, and if it has another
/// size.
CACHEBISECT_INTERNAL_API void unpack_into(const std::string& path, Packing packing,
                                          std::span<std::byte> out);

/// Lets four files be unpacked at once: each may take a quarter of the memory that there is for
/// all.
class UnpackingLimit {
 public:
  struct Release {
    void operator()(std::counting_semaphore<>* turns) const { turns->release(); }
  };
  using Turn = std::unique_ptr<std::counting_semaphore<>, Release>;

  /// Waits for its turn, which ends when what it returns does.
  [[nodiscard]] Turn wait() {
    turns_.acquire();
    return Turn(&turns_);
  }

 private:
  std::counting_semaphore<> turns_{4};
};

}  // namespace cachebisect::stages
