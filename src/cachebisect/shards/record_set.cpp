#include "cachebisect/shards/record_set.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/parallel.hpp"
#include "cachebisect/data/sample_place.hpp"

namespace cachebisect::shards {
namespace {

ShardFile open_shard(std::unique_ptr<const ByteSource> file, const ShardFacts& facts) {
  ShardFile shard(std::move(file));
  if (shard.records() == facts.samples &&
      checksum_text(shard.index_checksum()) == facts.index_checksum) {
    return shard;
  }
  throw Error(ErrorKind::data, shard.file().path() + ": is not the shard that " + kIndexName +
                                   " names; the same `cachebisect prepare` writes it again");
}

}  // namespace

RecordSet::RecordSet(const std::string& folder, const ShardSet& set,
                     const std::shared_ptr<const RemoteStore>& store, const std::stop_token& stop) {
  std::vector<std::optional<ShardFile>> files(set.shards.size());
  const auto open = [&](std::uint64_t i) {
    files[i] = open_shard(open_bytes(folder + "/" + set.shards[i].file, store), set.shards[i]);
  };
  parallel_for(files.size(), 1, stop, open, store ? RemoteStore::kOpenAtOnce : 1);
  shards_.reserve(files.size());
  for (std::optional<ShardFile>& shard : files) add(*std::move(shard));
  if (size() == 0) throw Error(ErrorKind::data, shown_path(folder) + ": has no samples");
}

void RecordSet::add(ShardFile shard) {
  ends_.push_back(size() + shard.records());
  byte_ends_.push_back(bytes() + shard.records_end() - ShardFile::kFirstRecord);
  shards_.push_back(std::move(shard));
}

std::string RecordSet::objects() const {
  std::string text;
  for (const ShardFile& shard : shards_) text += object_line(shard.file());
  return text;
}

RecordSet::Place RecordSet::locate(std::uint64_t index) const {
  const auto [number, record] = place_of_sample(ends_, index);
  const ShardFile& shard = shards_[number];
  const std::uint64_t base = number == 0 ? 0 : byte_ends_[number - 1];
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
