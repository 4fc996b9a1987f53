// The samples of all archives of a data set, by one number and as one sequence of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stages/datasets/tar_index.hpp"

#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// An archive that was indexed.
class CACHEBISECT_INTERNAL_API TarFile {
 public:
  TarFile() = default;
  /// `keep_open`: until this is destroyed; else it is opened for each read.
  TarFile(std::unique_ptr<const ByteSource> bytes, TarIndex index, bool keep_open);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// That of object_line(); empty: a file.
  [[nodiscard]] std::string object() const { return bytes_ ? object_line(*bytes_) : ""; }
  [[nodiscard]] const TarIndex& index() const noexcept { return index_; }
  /// The byte behind the last sample.
  [[nodiscard]] std::uint64_t end() const { return index_.samples.back().end(); }
  /// Fills `first`, then `second`, from `offset`. Throws Error(data) naming the archive if it ends
  /// too early, or has another size than when it was indexed. Allocates nothing unless it throws.
  void read(std::uint64_t offset, std::span<std::byte> first,
            std::span<std::byte> second = {}) const;

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  TarIndex index_;
  std::unique_ptr<const ByteSource> bytes_;  ///< null: opened for each read
};

/// Thread safe.
class CACHEBISECT_INTERNAL_API TarSet {
 public:
  struct Place {
    const TarFile* tar = nullptr;
    std::size_t number = 0;       ///< in the archive
    std::uint64_t tar_begin = 0;  ///< of the archive in the sequence of all bytes

    [[nodiscard]] const TarSample& sample() const { return tar->index().samples[number]; }
    [[nodiscard]] std::uint64_t begin() const { return tar_begin + sample().begin(); }
    [[nodiscard]] std::uint64_t end() const { return tar_begin + sample().end(); }
  };

  /// Indexes the archives at `path` (see tar_paths()), several at once. Throws Error(data) as that
  /// does, Error(interrupted) when the context's stop is requested. `store`: of objects on a
  /// server; null: the path is that of files.
  TarSet(const std::string& path, const SampleMembers& members,
         std::shared_ptr<const RemoteStore> store, const OpenContext& context);

  [[nodiscard]] std::uint64_t size() const noexcept { return ends_.back(); }
  /// Throws Error(internal) if there is no such sample.
  [[nodiscard]] Place locate(std::uint64_t index) const;
  /// Of all archives, each up to its last sample.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return byte_ends_.back(); }
  /// Where they lie, if not in files; else null.
  [[nodiscard]] const std::shared_ptr<const RemoteStore>& store() const noexcept { return store_; }
  /// The archives that lie there, one per line.
  [[nodiscard]] std::string objects() const;
  /// Fills `out` from this byte of the sequence on, by one read per archive.
  void read(std::uint64_t first_byte, std::span<std::byte> out) const;

 private:
  std::shared_ptr<const RemoteStore> store_;
  std::vector<TarFile> tars_;
  std::vector<std::uint64_t> ends_;       ///< samples up to the end of each archive
  std::vector<std::uint64_t> byte_ends_;  ///< and bytes
};

}  // namespace cachebisect::stages
