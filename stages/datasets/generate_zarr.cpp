#include "stages/datasets/generate_zarr.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "stages/datasets/generate_photos.hpp"
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/parallel.hpp"

namespace cachebisect::stages {
namespace {

constexpr unsigned kZarrSide = 256;
constexpr unsigned kZarrChunkSide = 128;
constexpr unsigned kZarrChannels = 3;
constexpr unsigned kZarrClasses = 10;

std::vector<std::byte> gzipped(std::span<const std::uint8_t> bytes) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr int kMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ErrorKind::data, "no memory left to compress");
  const auto length = static_cast<uLong>(bytes.size());
  std::vector<std::byte> out(deflateBound(&stream, length));
  // zlib's interface is older than const.
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(length);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void write_json(const std::string& file, const nlohmann::json& json) {
  const std::string text = json.dump(2);
  write_file(file, std::as_bytes(std::span(text)));
}

nlohmann::json array_json(const Shape& shape, const Shape& chunk, std::string_view type) {
  using nlohmann::json;
  const auto extents = [](const Shape& of) {
    return json(std::vector(of.dims().begin(), of.dims().end()));
  };
  return {
      {"zarr_format", 3},
      {"node_type", "array"},
      {"shape", extents(shape)},
      {"data_type", type},
      {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", extents(chunk)}}}}},
      {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "."}}}}},
      {"fill_value", 0},
      {"codecs",
       {{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}},
        {{"name", "gzip"}, {"configuration", {{"level", 1}}}}}}};
}

/// The upper left corner of a photo, in chunks.
void write_image(const std::string& folder, std::uint64_t index) {
  const RgbImage photo = draw_photo(index, static_cast<unsigned>(index % kZarrClasses));
  std::vector<std::uint8_t> chunk(std::size_t{kZarrChunkSide} * kZarrChunkSide * kZarrChannels);
  constexpr std::size_t kRow = std::size_t{kZarrChunkSide} * kZarrChannels;
  for (unsigned top = 0; top < kZarrSide; top += kZarrChunkSide) {
    for (unsigned left = 0; left < kZarrSide; left += kZarrChunkSide) {
      for (unsigned y = 0; y < kZarrChunkSide; ++y) {
        const std::size_t row = std::min(top + y, photo.height - 1);
        const std::size_t column = std::min(left, photo.width - kZarrChunkSide);
        std::copy_n(photo.pixels.begin() +
                        static_cast<std::ptrdiff_t>((row * photo.width + column) * kZarrChannels),
                    kRow, chunk.begin() + static_cast<std::ptrdiff_t>(y * kRow));
      }
      write_file(folder + "/c." + std::to_string(index) + "." +
                     std::to_string(top / kZarrChunkSide) + "." +
                     std::to_string(left / kZarrChunkSide) + ".0",
                 gzipped(chunk));
    }
  }
}

}  // namespace

ZarrArray generated_images(std::uint64_t samples) {
  ZarrArray array;
  array.shape = {static_cast<std::int64_t>(samples), kZarrSide, kZarrSide, kZarrChannels};
  array.chunk = array.file_chunk = {1, kZarrChunkSide, kZarrChunkSide, kZarrChannels};
  return array;
}

void generate_zarr(const std::string& folder, std::uint64_t samples, const std::stop_token& stop) {
  const ZarrArray images = generated_images(samples);
  const std::string image_folder = folder + "/" + kGeneratedImages;
  const std::string label_folder = folder + "/labels";
  std::filesystem::create_directory(image_folder);
  std::filesystem::create_directory(label_folder);
  write_json(folder + "/zarr.json", {{"zarr_format", 3}, {"node_type", "group"}});
  write_json(image_folder + "/zarr.json", array_json(images.shape, images.chunk, "uint8"));
  const Shape label_shape{static_cast<std::int64_t>(samples)};
  write_json(label_folder + "/zarr.json", array_json(label_shape, label_shape, "int64"));
  std::vector<std::uint8_t> labels(samples * sizeof(std::int64_t));
  for (std::uint64_t i = 0; i < samples; ++i)
    labels[i * sizeof(std::int64_t)] = static_cast<std::uint8_t>(i % kZarrClasses);
  write_file(label_folder + "/c.0", gzipped(labels));
  parallel_for(samples, 1, stop, [&](std::uint64_t i) { write_image(image_folder, i); });
}

}  // namespace cachebisect::stages
