// A hostile shard: its index, its records, and the samples in them.
#include <cstring>

#include "fuzz/fuzz_target.hpp"

#include "cachebisect/shards/packed_sample.hpp"
#include "cachebisect/shards/record_codec.hpp"
#include "cachebisect/shards/shard_file.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;
using shards::ShardEntry;
using shards::ShardFile;

namespace {

constexpr std::size_t kFooter = 56;
constexpr std::size_t kMostRecord = std::size_t{1} << 16U;

std::uint64_t number_at(const std::string& shard, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, shard.data() + offset, sizeof value);
  return value;
}

void set_number(std::string& shard, std::size_t offset, std::uint64_t value) {
  std::memcpy(shard.data() + offset, &value, sizeof value);
}

/// With the check sums of what it has: chance would never find them.
std::string with_checksums(std::string shard) {
  if (shard.size() < kFooter) return shard;
  const std::size_t footer = shard.size() - kFooter;
  const std::uint64_t begin = number_at(shard, footer);
  const std::uint64_t records = number_at(shard, footer + 8);
  if (begin > footer || records > (footer - begin) / sizeof(ShardEntry)) return shard;
  const auto bytes = bytes_of(std::string_view(shard));
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::size_t at = begin + i * sizeof(ShardEntry);
    const std::uint64_t offset = number_at(shard, at);
    const std::uint32_t stored = static_cast<std::uint32_t>(number_at(shard, at + 8));
    if (offset > footer || stored > footer - offset) continue;
    set_number(shard, at + 16, shards::checksum(bytes.subspan(offset, stored)));
  }
  set_number(shard, footer + 16,
             shards::checksum(bytes.subspan(begin, records * sizeof(ShardEntry))));
  return shard;
}

/// A sample of fields that are partly dynamic; what unpacks, packs to the same bytes.
void check_sample(std::span<const std::byte> record) {
  const shards::PackedSample packed({{"image", DType::uint8, {kDynamic, kDynamic, 3}},
                                     {"label", DType::int64, {}},
                                     {"boxes", DType::float32, {kDynamic, 4}}});
  Sample sample;
  if (!packed.unpack(record, sample)) return;
  std::vector<std::byte> again;
  packed.pack(sample, again);
  require(same(record, again), "a sample that was unpacked packs to the same bytes");
}

void check_record(const ShardFile& shard, std::uint64_t number) {
  const ShardEntry& entry = shard.entry(number);
  require(entry.offset + entry.stored_bytes <= shard.records_end(), "a record lies in its shard");
  std::vector<std::byte> stored(entry.stored_bytes);
  if (!takes({ErrorKind::data}, [&] { shard.read(number, stored); })) return;
  check_sample(stored);
  if (entry.record_bytes > kMostRecord) return;
  for (const std::string& name : shards::codecs_of_this_build()) {
    std::vector<std::byte> record(entry.record_bytes);
    if (shards::make_codec(name)->expand(stored, record)) check_sample(record);
  }
}

void check_shard(const std::string& content) {
  const std::string path = put_file("shard-00000.cbs", bytes_of(content));
  takes({ErrorKind::data}, [&] {
    const ShardFile shard(path);
    for (std::uint64_t i = 0; i < shard.records(); ++i) check_record(shard, i);
  });
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(shard)(const std::uint8_t* data, std::size_t size) {
  const std::string given(text_of(data, size));
  check_shard(given);
  check_shard(with_checksums(given));
  return 0;
}
