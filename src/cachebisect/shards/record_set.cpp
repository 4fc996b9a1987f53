#include "cachebisect/shards/record_set.hpp"

#include <algorithm>

#include "cachebisect/base/error.hpp"

namespace cachebisect::shards {

RecordSet::RecordSet(const std::string& folder, const ShardSet& set) {
  shards_.reserve(set.shards.size());
  for (const ShardFacts& facts : set.shards) add(folder, facts);
  if (size() == 0) throw Error(ErrorKind::data, folder + ": has no samples");
}

void RecordSet::add(const std::string& folder, const ShardFacts& facts) {
  const std::string file = folder + "/" + facts.file;
  const ShardFile& shard = shards_.emplace_back(file);
  if (shard.records() != facts.samples ||
      checksum_text(shard.index_checksum()) != facts.index_checksum) {
    throw Error(ErrorKind::data, file + ": is not the shard that " + kIndexName +
                                     " names; the same `cachebisect prepare` writes it again");
  }
  ends_.push_back(size() + shard.records());
  byte_ends_.push_back(bytes() + shard.records_end() - ShardFile::kFirstRecord);
}

RecordSet::Place RecordSet::locate(std::uint64_t index) const {
  const auto at = std::ranges::upper_bound(ends_, index);
  if (at == ends_.end()) {
    throw Error(ErrorKind::internal, "sample " + std::to_string(index) + " of " +
                                         std::to_string(size()) + " was requested");
  }
  const auto number = static_cast<std::size_t>(at - ends_.begin());
  const ShardFile& shard = shards_[number];
  const bool first = number == 0;
  const std::uint64_t record = index - (first ? 0 : ends_[number - 1]);
  const std::uint64_t base = first ? 0 : byte_ends_[number - 1];
  return {&shard, record, base + shard.entry(record).offset - ShardFile::kFirstRecord};
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
