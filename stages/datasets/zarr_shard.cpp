#include "stages/datasets/zarr_shard.hpp"

#include <string>
#include <string_view>

#include "stages/codecs/byte_reader.hpp"

#include "cachebisect/format/crc32c.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::size_t kTableEntry = 16;
constexpr std::size_t kTableChecksum = 4;
constexpr std::uint64_t kNoChunk = ~std::uint64_t{0};

std::uint64_t word_at(std::span<const std::byte> table, std::size_t offset, bool big_endian) {
  const ByteOrder order = big_endian ? ByteOrder::big : ByteOrder::little;
  const std::uint64_t first = read_unsigned<4>(table, offset, order).value_or(0);
  const std::uint64_t second = read_unsigned<4>(table, offset + 4, order).value_or(0);
  return big_endian ? first << 32U | second : second << 32U | first;
}

}  // namespace

std::size_t shard_table_bytes(const ZarrShardIndex& index, std::size_t chunks) {
  return chunks * kTableEntry + (index.has_checksum ? kTableChecksum : 0);
}

void read_shard_table(const ChunkFile& shard, const ZarrShardIndex& index,
                      std::span<std::byte> table) {
  shard.read(index.at_end ? shard.bytes - table.size() : 0, table);
  if (!index.has_checksum) return;
  const auto entries = table.first(table.size() - kTableChecksum);
  const std::string_view entry_text(reinterpret_cast<const char*>(entries.data()), entries.size());
  if (read_unsigned<4>(table, entries.size(), ByteOrder::little) == crc32c(entry_text)) return;
  shard.refuse(
      "its table of chunks does not match its checksum (crc32c); the shard is damaged, or "
      "cut short");
}

std::optional<ShardPart> find_in_shard(const ChunkFile& shard, const ZarrShardIndex& index,
                                       std::span<const std::byte> table, std::size_t chunk) {
  const std::size_t entry = chunk * kTableEntry;
  const ShardPart part{word_at(table, entry, index.big_endian),
                       word_at(table, entry + kTableEntry / 2, index.big_endian)};
  if (part.offset == kNoChunk && part.bytes == kNoChunk) return std::nullopt;
  if (part.offset <= shard.bytes && part.bytes <= shard.bytes - part.offset) return part;
  shard.refuse("its table puts chunk " + std::to_string(chunk) + " at byte " +
               std::to_string(part.offset) + " with " + std::to_string(part.bytes) +
               " bytes, beyond the shard's " + std::to_string(shard.bytes));
}

}  // namespace cachebisect::stages
