// The files of a chunked array: in a folder, or objects on a server.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "stages/datasets/chunk_file.hpp"

#include "cachebisect/objects/remote_store.hpp"

namespace cachebisect::stages {

/// Thread safe. Remembers which objects there are, so that the second read of one takes one
/// request, and that of a missing one none.
class CACHEBISECT_INTERNAL_API ChunkFiles {
 public:
  /// Null: files.
  explicit ChunkFiles(std::shared_ptr<const RemoteStore> store = nullptr)
      : store_(std::move(store)) {}

  [[nodiscard]] bool is_remote() const noexcept { return store_ != nullptr; }
  /// A file, or one of several objects that are asked for at once. `head`: memory for the first
  /// bytes of an object, which come with the request that asks for it; it must live as long as what
  /// is returned.
  struct Wanted {
    std::string path;
    std::span<std::byte> head{};
  };

  /// Empty if there is none. Throws Error(data) that names the path.
  [[nodiscard]] std::optional<ChunkFile> open(const std::string& path) const;
  /// The same of several, in their order.
  [[nodiscard]] std::vector<std::optional<ChunkFile>> open(std::span<const Wanted> wanted) const;
  /// Reads objects; see RemoteStore::read().
  void read(std::span<const WantedBytes> wanted) const { store_->read(wanted); }

 private:
  using Object = std::shared_ptr<const ByteSource>;

  [[nodiscard]] std::vector<std::optional<ChunkFile>> open_objects(
      std::span<const Wanted> wanted) const;
  [[nodiscard]] std::optional<Object> known(const std::string& path) const;
  void remember(const std::string& path, const Object& object) const;

  std::shared_ptr<const RemoteStore> store_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Object> known_;  ///< null: there is none
};

}  // namespace cachebisect::stages
