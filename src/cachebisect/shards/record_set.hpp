// The records of all shards of a set, by one number and as one sequence of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/shards/shard_file.hpp"
#include "cachebisect/shards/shard_set.hpp"

namespace cachebisect::shards {

/// Thread safe.
class CACHEBISECT_INTERNAL_API RecordSet {
 public:
  struct Place {
    const ShardFile* shard = nullptr;
    std::uint64_t record = 0;      ///< in the shard
    std::uint64_t first_byte = 0;  ///< in the sequence of all that is stored

    [[nodiscard]] const ShardEntry& entry() const { return shard->entry(record); }
  };

  RecordSet() = default;
  /// Opens all shards, of a server (`store`, as for load_shard_set()) several at once. Throws
  /// Error(data) naming what is not as the index of the set says, Error(interrupted) on `stop`.
  RecordSet(const std::string& folder, const ShardSet& set,
            const std::shared_ptr<const RemoteStore>& store = nullptr,
            const std::stop_token& stop = {});

  [[nodiscard]] std::uint64_t size() const noexcept { return ends_.empty() ? 0 : ends_.back(); }
  /// Throws Error(internal) if there is no such record.
  [[nodiscard]] Place locate(std::uint64_t index) const;

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return byte_ends_.empty() ? 0 : byte_ends_.back();
  }
  /// The shards that lie on a server, one per line.
  [[nodiscard]] std::string objects() const;
  /// Fills `out` from this byte on, by one read per shard. Checks no record.
  void read(std::uint64_t first_byte, std::span<std::byte> out) const;

 private:
  void add(ShardFile shard);

  std::vector<ShardFile> shards_;
  std::vector<std::uint64_t> ends_;       ///< records up to the end of each shard
  std::vector<std::uint64_t> byte_ends_;  ///< and their bytes
};

}  // namespace cachebisect::shards
