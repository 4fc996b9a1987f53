#include "cachebisect/shards/record_set.hpp"

#include <algorithm>
#include <cerrno>

#include "cachebisect/base/error.hpp"

namespace cachebisect::shards {

RecordSet::RecordSet(const std::string& folder, const ShardSet& set) {
  shards_.reserve(set.shards.size());
  for (const ShardFacts& facts : set.shards) add(folder, facts);
  if (size() == 0) throw Error(ErrorKind::data, folder + ": has no samples");
}

void RecordSet::add(const std::string& folder, const ShardFacts& facts) {
  const std::string file = folder + "/" + facts.file;
  const ShardFile& shard = open(file);
  if (shard.records() != facts.samples ||
      checksum_text(shard.index_checksum()) != facts.index_checksum) {
    throw Error(ErrorKind::data, file + ": is not the shard that " + kIndexName +
                                     " names; the same `cachebisect prepare` writes it again");
  }
  ends_.push_back(size() + shard.records());
  byte_ends_.push_back(bytes() + shard.records_end() - ShardFile::kFirstRecord);
}

const ShardFile& RecordSet::open(const std::string& file) {
  try {
    return shards_.emplace_back(file);
  } catch (const Error& error) {
    if (std::string(error.what()).find(errno_text(EMFILE)) == std::string::npos) throw;
    throw Error(ErrorKind::data, std::string(error.what()) +
                                     "; every shard is held open: allow more by ulimit -n, or "
                                     "prepare with a larger --shard-size");
  }
}

std::size_t RecordSet::shard_of(std::uint64_t index) const {
  const auto at = std::ranges::upper_bound(ends_, index);
  if (at != ends_.end()) return static_cast<std::size_t>(at - ends_.begin());
  throw Error(ErrorKind::internal, "sample " + std::to_string(index) + " of " +
                                       std::to_string(size()) + " was requested");
}

RecordSet::Place RecordSet::locate(std::uint64_t index) const {
  const std::size_t shard = shard_of(index);
  return {&shards_[shard], index - (shard == 0 ? 0 : ends_[shard - 1])};
}

std::uint64_t RecordSet::first_byte(std::uint64_t index) const {
  const std::size_t shard = shard_of(index);
  const std::uint64_t record = index - (shard == 0 ? 0 : ends_[shard - 1]);
  return (shard == 0 ? 0 : byte_ends_[shard - 1]) + shards_[shard].entry(record).offset -
         ShardFile::kFirstRecord;
}

void RecordSet::read(std::uint64_t first_byte, std::span<std::byte> out) const {
  const auto at = std::ranges::upper_bound(byte_ends_, first_byte);
  for (auto shard = static_cast<std::size_t>(at - byte_ends_.begin()); !out.empty(); ++shard) {
    const std::uint64_t begin = shard == 0 ? 0 : byte_ends_[shard - 1];
    const std::size_t here = std::min<std::uint64_t>(out.size(), byte_ends_.at(shard) - first_byte);
    shards_[shard].file().read(ShardFile::kFirstRecord + first_byte - begin, out.first(here));
    first_byte += here;
    out = out.subspan(here);
  }
}

}  // namespace cachebisect::shards
