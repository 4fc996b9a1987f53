// The samples of all archives of a data set, by one number and as one sequence of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stages/datasets/held_file.hpp"
#include "stages/datasets/tar_index.hpp"
#include "stages/datasets/unpacker.hpp"

#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// An archive that was indexed.
class CACHEBISECT_INTERNAL_API TarFile {
 public:
  TarFile() = default;
  /// `keep_open`: until this is destroyed; else it is opened for each read.
  TarFile(std::unique_ptr<const ByteSource> bytes, TarIndex index, bool keep_open);
  /// A compressed one, which unpacks to `bytes`.
  TarFile(std::unique_ptr<const ByteSource> packed, Packing packing, std::uint64_t bytes,
          TarIndex index);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  /// As object_line() writes it; empty: a file.
  [[nodiscard]] std::string object() const { return file_.object(); }
  [[nodiscard]] const TarIndex& index() const noexcept { return index_; }
  [[nodiscard]] bool is_packed() const noexcept { return packing_ != Packing::none; }
  /// The size of the file or object; if it is compressed, of what it unpacks to.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Its size before it is unpacked.
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept { return file_.size(); }
  /// The byte behind the last sample.
  [[nodiscard]] std::uint64_t end() const { return index_.samples.back().end(); }
  /// As HeldFile::read(); for an archive that is not compressed.
  void read(std::uint64_t offset, std::span<std::byte> first,
            std::span<std::byte> second = {}) const {
    file_.read(offset, first, second);
  }
  /// Fills `whole`, of bytes(). Throws as read() does, and if what is compressed is damaged.
  void read_whole(std::span<std::byte> whole) const;

 private:
  HeldFile file_;
  Packing packing_ = Packing::none;
  std::uint64_t bytes_ = 0;
  TarIndex index_;
};

struct TarSetOptions {
  std::string path;  ///< see tar_paths(), tar_object_paths()
  SampleMembers members;
  std::shared_ptr<const RemoteStore> store{};  ///< of objects on a server; null: files
  std::uint64_t most_unpacked = 0;  ///< bytes of a compressed archive; 0: none may be compressed
};

/// Thread safe.
class CACHEBISECT_INTERNAL_API TarSet {
 public:
  struct Place {
    const TarFile* tar = nullptr;
    std::size_t tar_number = 0;
    std::size_t number = 0;       ///< in the archive
    std::uint64_t tar_begin = 0;  ///< of the archive in the sequence of all bytes

    [[nodiscard]] const TarSample& sample() const { return tar->index().samples[number]; }
    [[nodiscard]] std::uint64_t begin() const { return tar_begin + sample().begin(); }
    [[nodiscard]] std::uint64_t end() const { return tar_begin + sample().end(); }
  };

  /// Indexes the archives, several at once; compressed ones are unpacked for that, at most four at
  /// once. Throws Error(data) as tar_paths() and unpack() do, Error(interrupted) when the context's
  /// stop is requested.
  TarSet(const TarSetOptions& options, const OpenContext& context);

  [[nodiscard]] std::uint64_t size() const noexcept { return ends_.back(); }
  /// Throws Error(internal) if there is no such sample.
  [[nodiscard]] Place locate(std::uint64_t index) const;
  /// The size of all archives, each up to its last sample.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return byte_ends_.back(); }
  /// Where they lie, if not in files; else null.
  [[nodiscard]] const std::shared_ptr<const RemoteStore>& store() const noexcept { return store_; }
  [[nodiscard]] const std::vector<TarFile>& tars() const noexcept { return tars_; }
  /// Whether one is compressed: then archives are read as a whole.
  [[nodiscard]] bool is_packed() const noexcept { return is_packed_; }
  /// The archives that lie there, one per line.
  [[nodiscard]] std::string objects() const;
  /// Fills `out` from this byte of the sequence on, by one read per archive.
  void read(std::uint64_t first_byte, std::span<std::byte> out) const;

 private:
  std::shared_ptr<const RemoteStore> store_;
  std::vector<TarFile> tars_;
  bool is_packed_ = false;
  std::vector<std::uint64_t> ends_;       ///< samples up to the end of each archive
  std::vector<std::uint64_t> byte_ends_;  ///< and bytes
};

}  // namespace cachebisect::stages
