#include "stages/datasets/zarr_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "stages/datasets/chunk_grid.hpp"
#include "stages/datasets/zarr_shard.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

/// A little more than the largest table.
constexpr std::size_t kKeptTableBytes = std::size_t{33} << 20U;

/// swap(bits) of each element.
template <class Bits, class Swap>
void swap_each(std::span<std::byte> elements, const Swap& swap) {
  for (std::size_t at = 0; at + sizeof(Bits) <= elements.size(); at += sizeof(Bits)) {
    Bits bits{};
    std::memcpy(&bits, &elements[at], sizeof bits);
    bits = swap(bits);
    std::memcpy(&elements[at], &bits, sizeof bits);
  }
}

void swap_bytes(std::span<std::byte> elements, std::size_t element_bytes) {
  if (element_bytes == 2) {
    swap_each<std::uint16_t>(elements, [](auto bits) { return __builtin_bswap16(bits); });
  } else if (element_bytes == 4) {
    swap_each<std::uint32_t>(elements, [](auto bits) { return __builtin_bswap32(bits); });
  } else {
    swap_each<std::uint64_t>(elements, [](auto bits) { return __builtin_bswap64(bits); });
  }
}

/// From what is stored to what a tensor of this type holds.
void make_native(std::span<std::byte> chunk, const ZarrArray& array) {
  constexpr bool kOwnIsBig = std::endian::native == std::endian::big;
  const std::size_t element = size_of(array.dtype);
  if (element > 1 && array.big_endian != kOwnIsBig) swap_bytes(chunk, element);
  if (array.dtype != DType::boolean) return;
  for (std::byte& value : chunk) value = value == std::byte{0} ? value : std::byte{1};
}

}  // namespace

ZarrReader::Kept::Kept(std::size_t chunk_bytes) : chunks(chunk_bytes), tables(kKeptTableBytes) {}

ZarrReader::ZarrReader(ZarrArray array, std::size_t cache_bytes,
                       std::shared_ptr<const RemoteStore> store)
    : array_(std::move(array)),
      files_(std::move(store)),
      decoder_(array_.codecs),
      cache_bytes_(cache_bytes),
      chunks_per_file_(quotient(array_.file_chunk, array_.chunk)) {}

ZarrReader::~ZarrReader() = default;

void ZarrReader::require_chunks() const {
  if (files_.is_remote() ? !some_objects().empty() : has_chunk_file()) return;
  throw Error(ErrorKind::data, shown_path(array_.path) + ": has no chunks" +
                                   (files_.is_remote() ? " at any place that was asked for" : "") +
                                   ", so that every sample would be the fill value; is it the "
                                   "right array, and was it copied whole?");
}

bool ZarrReader::has_chunk_file() const {
  std::error_code error;
  const std::filesystem::directory_iterator entries(array_.path, error);
  return std::ranges::any_of(entries, [](const auto& entry) {
    const std::string name = entry.path().filename().string();
    return !name.starts_with('.') && name != "zarr.json";
  });
}

std::string ZarrReader::some_objects() const {
  constexpr std::uint64_t kMost = 16;
  const Shape grid = grid_of(array_.shape, array_.file_chunk);
  const auto files = static_cast<std::uint64_t>(grid.elements());
  const std::uint64_t asked = std::min(files, kMost);
  std::string lines;
  for (std::uint64_t i = 0; i < asked; ++i) {
    const auto file = files_.open(path_of(place_in(grid, i * (files / asked))));
    if (file) lines.append(object_line(*file->object)).append(1, '\n');
  }
  return lines;
}

std::string ZarrReader::path_of(const Shape& file) const {
  std::string path = array_.path + "/" + array_.key_prefix;
  for (std::size_t axis = 0; axis < file.rank(); ++axis) {
    if (axis > 0 || !array_.key_prefix.empty()) path += array_.separator;
    path += std::to_string(file[axis]);
  }
  return path;
}

std::vector<FileRange> ZarrReader::files(const ArrayBox& box) const {
  std::vector<FileRange> ranges;
  for_each_chunk(box, array_.file_chunk, [&](const Shape& file) {
    ranges.push_back({path_of(file), 0, FileRange::kToEnd});
  });
  return ranges;
}

void ZarrReader::read(const ArrayBox& box, std::byte* out) const {
  const auto kept = kept_.borrow([this] { return std::make_unique<Kept>(cache_bytes_); });
  if (files_.is_remote()) return read_groups(box, out, *kept);
  for_each_chunk(box, array_.chunk, [&](const Shape& number) {
    kept->scratch.reset();
    read_chunk(number, {out, box}, *kept);
  });
}

void ZarrReader::read_chunk(const Shape& number, const BoxBytes<std::byte>& out, Kept& kept) const {
  const std::size_t bytes = array_.chunk_bytes();
  const std::size_t element = size_of(array_.dtype);
  const ArrayBox chunk{product(number, array_.chunk), array_.chunk};
  const ArrayBox part = overlap(chunk, out.box);
  if (bytes <= cache_bytes_) {
    const std::uint64_t key = number_in(grid_of(array_.shape, array_.chunk), number);
    const auto* held = kept.chunks.find(key);
    if (held == nullptr) {
      held = kept.chunks.make(key, bytes, [&](std::vector<std::byte>& made) {
        if (!decode(number, made, kept)) fill_box(array_.fill, {made.data(), chunk}, chunk);
      });
    }
    return copy_box({held->data(), chunk}, out, part, element);
  }
  const bool is_whole = part.extent == out.box.extent && part.extent == array_.chunk;
  const std::span<std::byte> decoded =
      is_whole ? std::span(out.data, bytes) : kept.scratch.take(bytes);
  if (!decode(number, decoded, kept)) return fill_box(array_.fill, out, part);
  if (!is_whole) copy_box({decoded.data(), chunk}, out, part, element);
}

bool ZarrReader::decode(const Shape& number, std::span<std::byte> chunk, Kept& kept) const {
  const Shape place = quotient(number, chunks_per_file_);
  std::optional<ChunkFile> file = open(place, kept);
  if (!file) return false;
  if (!array_.sharded) {
    decode_part(*file, 0, file->bytes, chunk, kept);
    return true;
  }
  const std::span<const std::byte> table = shard_table(*file, place, kept);
  const std::uint64_t within = number_in(chunks_per_file_, remainder(number, chunks_per_file_));
  const std::optional<ShardPart> part =
      find_in_shard(*file, array_.shard_index, table, static_cast<std::size_t>(within));
  if (!part) return false;
  const auto there = std::ranges::find(kept.parts, number, &Part::number);
  if (there != kept.parts.end()) {
    file->head = there->stored;
    file->head_at = part->offset;
  }
  decode_part(*file, part->offset, part->bytes, chunk, kept);
  return true;
}

std::optional<ChunkFile> ZarrReader::open(const Shape& file, Kept& kept) const {
  const auto ahead = std::ranges::find(kept.ahead, file, [](const auto& one) { return one.first; });
  return ahead != kept.ahead.end() ? std::move(ahead->second) : files_.open(path_of(file));
}

std::size_t ZarrReader::most_stored() const noexcept {
  const std::size_t bytes = array_.chunk_bytes();
  return decoder_.is_plain() ? bytes : ZarrDecoder::most_stored(bytes);
}

void ZarrReader::decode_part(const ChunkFile& file, std::uint64_t offset, std::uint64_t bytes,
                             std::span<std::byte> chunk, Kept& kept) const {
  const bool plain = decoder_.is_plain();
  const std::size_t most = most_stored();
  if (bytes > most || bytes == 0 || (plain && bytes < chunk.size())) {
    file.refuse("holds a chunk of " + std::to_string(bytes) + " bytes; the metadata asks for " +
                (plain ? "" : "at most ") + std::to_string(most) +
                ": the chunk is cut short, or not of this array");
  }
  ++decoded_;
  if (plain) {
    file.read(offset, chunk);
    return make_native(chunk, array_);
  }
  std::span<const std::byte> stored = file.in_head(offset, bytes);
  if (stored.empty()) {
    const std::span<std::byte> read = kept.scratch.take(static_cast<std::size_t>(bytes));
    file.read(offset, read);
    stored = read;
  }
  try {
    decoder_.decode(stored, chunk, kept.scratch);
  } catch (const Error& error) {
    file.refuse("the chunk at byte " + std::to_string(offset) + " " + error.what());
  }
  make_native(chunk, array_);
}

std::span<const std::byte> ZarrReader::shard_table(const ChunkFile& file, const Shape& shard,
                                                   Kept& kept) const {
  const std::uint64_t key = number_in(grid_of(array_.shape, array_.file_chunk), shard);
  if (const auto* held = kept.tables.find(key)) return *held;
  const std::size_t bytes =
      shard_table_bytes(array_.shard_index, static_cast<std::size_t>(chunks_per_file_.elements()));
  if (file.bytes < bytes) {
    file.refuse("is a shard of " + std::to_string(file.bytes) +
                " bytes, too few for its table of " + std::to_string(bytes));
  }
  const auto* made = kept.tables.make(key, bytes, [&](std::vector<std::byte>& table) {
    read_shard_table(file, array_.shard_index, table);
  });
  if (made != nullptr) return *made;
  const std::span<std::byte> table = kept.scratch.take(bytes);
  read_shard_table(file, array_.shard_index, table);
  return table;
}

}  // namespace cachebisect::stages
