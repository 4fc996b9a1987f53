// Writes a folder of shards, and goes on with one that another run left unfinished.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/shards/shard_file.hpp"
#include "cachebisect/shards/shard_set.hpp"

namespace cachebisect::shards {

/// A shard has its name once it is whole, and the folder its index once all shards are: a process
/// that is killed, or a full disk, leaves whole shards, with which the next writer goes on. One
/// process writes at a time. Not thread safe.
class CACHEBISECT_INTERNAL_API ShardSetWriter {
 public:
  /// Makes the folder if it is missing. Of an unfinished set of the same content, the number of
  /// samples per shard holds, and shards that are not as they were written are removed. Throws
  /// Error(usage) if the folder holds anything else, or another process writes; Error(data) if it
  /// cannot be used.
  ShardSetWriter(std::string folder, ShardSet facts);
  ShardSetWriter(const ShardSetWriter&) = delete;
  ShardSetWriter& operator=(const ShardSetWriter&) = delete;
  ~ShardSetWriter();

  [[nodiscard]] const ShardSet& set() const noexcept { return set_; }
  /// True if an earlier run wrote all.
  [[nodiscard]] bool is_finished() const noexcept { return finished_; }
  /// The next sample of the source: that behind the whole shards.
  [[nodiscard]] std::uint64_t next_sample() const noexcept;
  /// The sample of the source at which the shard ends that next_sample() begins.
  [[nodiscard]] std::uint64_t end_of_shard() const noexcept;

  /// Adds a record to the shard that next_sample() begins.
  void append(std::span<const std::byte> stored, std::size_t record_bytes);
  /// Ends that shard. Throws Error(data) naming the file, as append() does.
  void end_shard();
  /// After the last shard: writes the index.
  void finish();

 private:
  void lock();
  void resume(const std::string& file);
  ShardWriter& open_shard();
  [[nodiscard]] bool take_whole_shard();
  void write_facts(const char* name) const;
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  ShardSet set_;
  FileDescriptor lock_;
  std::optional<ShardWriter> shard_;
  bool finished_ = false;
};

}  // namespace cachebisect::shards
