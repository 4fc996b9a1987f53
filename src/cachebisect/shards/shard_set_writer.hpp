// Writes a folder of shards, and goes on with one that another run left unfinished.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/shards/shard_file.hpp"
#include "cachebisect/shards/shard_set.hpp"

namespace cachebisect::shards {

/// A shard has its name once it is whole, and the folder its index once all shards are: a process
/// that is killed, or a full disk, leaves whole shards, with which the next writer goes on. Of a
/// finished set too, every record is checked; shards that are damaged or missing are written again.
/// One process writes at a time. Not thread safe.
class CACHEBISECT_INTERNAL_API ShardSetWriter {
 public:
  /// Makes the folder if it is missing. `facts`: without shards; its digest is set here. Throws
  /// Error(usage) if the folder holds anything else, or another process writes; Error(output) if it
  /// cannot be used.
  ShardSetWriter(std::string folder, ShardSet facts);
  ShardSetWriter(const ShardSetWriter&) = delete;
  ShardSetWriter& operator=(const ShardSetWriter&) = delete;
  ~ShardSetWriter();

  [[nodiscard]] const ShardSet& set() const noexcept { return set_; }
  /// True if all is written, by this or an earlier run.
  [[nodiscard]] bool is_finished() const noexcept { return finished_; }
  /// The sample of the source with which the next shard begins; behind the last one: all are there.
  [[nodiscard]] std::uint64_t next_sample() const noexcept { return next_sample_; }
  /// The size of the shard that is being written.
  [[nodiscard]] std::uint64_t shard_bytes() const noexcept { return shard_ ? shard_->bytes() : 0; }

  /// Adds a record to the shard that next_sample() begins.
  void append(std::span<const std::byte> stored, std::size_t record_bytes);
  /// Ends that shard: the next one begins with this sample of the source, or behind whole shards
  /// that are there already. Throws Error(output) naming the file, as append() does.
  void end_shard(std::uint64_t end_sample);
  /// After the last shard: writes the index.
  void finish();

 private:
  void lock();
  void check_holds_nothing_else() const;
  void skip_whole_shards();
  [[nodiscard]] bool take_whole_shard();
  [[nodiscard]] bool begins_with_own_shard() const;
  ShardWriter& open_shard();
  void write_facts(const char* name) const;
  void remove_left_overs() const;
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  ShardSet set_;
  std::uint64_t identity_ = 0;
  FileDescriptor lock_;
  std::uint64_t next_sample_ = 0;
  std::optional<ShardWriter> shard_;
  bool finished_ = false;
};

}  // namespace cachebisect::shards
