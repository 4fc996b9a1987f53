#include "stages/datasets/zarr_array.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stages/datasets/zarr_metadata.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_text.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::stages {
namespace {

constexpr JsonLimits kZarrLimits{.max_bytes = std::size_t{4} << 20U,
                                 .document = "the metadata of a Zarr array"};

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::data, path + ": " + what);
}

nlohmann::json read_document(const ChunkFile& file) {
  if (file.bytes > kZarrLimits.max_bytes) {
    file.refuse("has " + format_bytes(static_cast<double>(file.bytes)) + ", more than " +
                std::string(kZarrLimits.document) + " may have");
  }
  std::string text(file.bytes, '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  try {
    return read_json(text, file.path, kZarrLimits);
  } catch (const Error& error) {
    throw Error(ErrorKind::data, error.what());
  }
}

/// Whether its bytes are at most 2^62.
bool fits(const Shape& shape, std::size_t element_bytes) {
  auto room = (std::uint64_t{1} << 62U) / element_bytes;
  for (const std::int64_t dim : shape.dims()) {
    if (dim == 0) return true;
    room /= static_cast<std::uint64_t>(dim);
    if (room == 0) return false;
  }
  return true;
}

void check_sizes(const ZarrArray& array, const std::string& file) {
  const std::size_t element = size_of(array.dtype);
  if (array.chunk.rank() != array.shape.rank() || array.file_chunk.rank() != array.shape.rank()) {
    refuse(file, "has chunks of another number of dimensions than the array");
  }
  if (!fits(array.shape, element)) {
    refuse(file, "claims the shape " + array.shape.to_string() + ", more than fits 64 bits");
  }
  if (array.shape.elements() == 0) {
    refuse(file, "has the shape " + array.shape.to_string() + ": there is nothing to read");
  }
  if (!fits(array.chunk, element) || array.chunk_bytes() > ZarrArray::kMostChunkBytes) {
    refuse(file, "claims chunks of " + array.chunk.to_string() + " " +
                     std::string(to_string(array.dtype)) + "; a chunk of up to " +
                     format_bytes(static_cast<double>(ZarrArray::kMostChunkBytes)) +
                     " can be read");
  }
  std::int64_t in_shard = 1;
  for (std::size_t axis = 0; axis < array.chunk.rank(); ++axis) {
    const std::int64_t along = array.file_chunk[axis] / array.chunk[axis];
    if (along * array.chunk[axis] != array.file_chunk[axis]) {
      refuse(file, "has shards of " + array.file_chunk.to_string() +
                       ", no multiple of their chunks " + array.chunk.to_string());
    }
    if (along > ZarrArray::kMostChunksPerShard / in_shard) {
      refuse(file, "claims more than " +
                       format_count(static_cast<std::uint64_t>(ZarrArray::kMostChunksPerShard)) +
                       " chunks per shard");
    }
    in_shard *= along;
  }
}

}  // namespace

ZarrArray load_zarr_array(const std::string& path, const ChunkFiles& files) {
  std::optional<ChunkFile> file = files.open(path + "/.zarray");
  const bool is_version2 = file.has_value();
  if (!file) file = files.open(path + "/zarr.json");
  if (!file) {
    refuse(shown_path(path),
           files.open(path + "/.zgroup")
               ? "is a group of Zarr; name an array in it"
               : "has neither .zarray nor zarr.json; name the folder of a Zarr array");
  }
  const nlohmann::json document = read_document(*file);
  const ZarrJson root(document, file->path + ":");
  ZarrArray array = is_version2 ? parse_zarr_v2(root) : parse_zarr_v3(root);
  array.path = path;
  if (file->object) array.object = object_line(*file->object);
  check_sizes(array, file->path);
  return array;
}

}  // namespace cachebisect::stages
