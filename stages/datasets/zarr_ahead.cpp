// Chunks that are asked of a server before they are decoded, several at once.
#include <algorithm>

#include "stages/datasets/chunk_grid.hpp"
#include "stages/datasets/zarr_reader.hpp"
#include "stages/datasets/zarr_shard.hpp"

namespace cachebisect::stages {
namespace {

/// Chunks of a box that are asked of a server at once.
constexpr std::size_t kMostAhead = 8;
/// Bytes of a chunk that come with the request that asks for it. Larger ones are asked for alone.
constexpr std::size_t kMostHead = std::size_t{4} << 20U;

}  // namespace

void ZarrReader::read_groups(const ArrayBox& box, std::byte* out, Kept& kept) const {
  const std::size_t most_at_once = most_stored() > kMostHead ? 1 : kMostAhead;
  std::vector<Shape> group;
  const auto read_group = [&] {
    kept.scratch.reset();
    if (array_.sharded) {
      read_parts(group, kept);
    } else {
      open_ahead(group, kept);
    }
    for (const Shape& number : group) read_chunk(number, {out, box}, kept);
    kept.ahead.clear();
    kept.parts.clear();
    group.clear();
  };
  for_each_chunk(box, array_.chunk, [&](const Shape& number) {
    group.push_back(number);
    if (group.size() == most_at_once) read_group();
  });
  read_group();
}

bool ZarrReader::is_kept(const Shape& number, Kept& kept) const {
  const std::uint64_t key = number_in(grid_of(array_.shape, array_.chunk), number);
  return array_.chunk_bytes() <= cache_bytes_ && kept.chunks.find(key) != nullptr;
}

void ZarrReader::open_ahead(std::span<const Shape> numbers, Kept& kept) const {
  kept.ahead.clear();
  std::vector<ChunkFiles::Wanted> wanted;
  for (const Shape& number : numbers) {
    if (is_kept(number, kept)) continue;
    wanted.push_back({path_of(number), kept.scratch.take(std::min(most_stored(), kMostHead))});
    kept.ahead.emplace_back(number, std::nullopt);
  }
  std::vector<std::optional<ChunkFile>> files = files_.open(wanted);
  for (std::size_t i = 0; i < files.size(); ++i) kept.ahead[i].second = std::move(files[i]);
}

void ZarrReader::read_parts(std::span<const Shape> numbers, Kept& kept) const {
  kept.parts.clear();
  std::vector<WantedBytes> wanted;
  for (const Shape& number : numbers) {
    if (is_kept(number, kept)) continue;
    const Shape place = quotient(number, chunks_per_file_);
    const std::optional<ChunkFile> file = files_.open(path_of(place));
    if (!file) continue;
    const std::uint64_t within = number_in(chunks_per_file_, remainder(number, chunks_per_file_));
    const std::optional<ShardPart> part =
        find_in_shard(*file, array_.shard_index, shard_table(*file, place, kept),
                      static_cast<std::size_t>(within));
    // What has another size than a chunk may have is refused when it is decoded.
    if (!part || part->bytes == 0 || part->bytes > std::min(most_stored(), kMostHead)) continue;
    const std::span<std::byte> stored = kept.scratch.take(static_cast<std::size_t>(part->bytes));
    kept.parts.push_back({number, stored, file->object});
    wanted.push_back({.object = file->object.get(), .offset = part->offset, .out = stored});
  }
  files_.read(wanted);
}

}  // namespace cachebisect::stages
