// Zarr arrays of a test: metadata as JSON, chunks as bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/conformance.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include <nlohmann/json.hpp>

namespace cachebisect::test {

using Extents = std::vector<std::int64_t>;
using NamedValues = std::vector<NamedValue>;
using Numbers = std::vector<double>;

/// Uncompressed, of version 2.
inline nlohmann::json zarr_2(const Extents& shape, const Extents& chunks,
                             const std::string& type = "|u1") {
  return {{"zarr_format", 2}, {"shape", shape},     {"chunks", chunks}, {"dtype", type},
          {"order", "C"},     {"filters", nullptr}, {"fill_value", 0},  {"compressor", nullptr}};
}

/// The bytes codec, and what comes after it.
inline nlohmann::json codecs_3(const std::vector<nlohmann::json>& more = {}) {
  nlohmann::json codecs = nlohmann::json::array();
  codecs.push_back({{"name", "bytes"}, {"configuration", {{"endian", "little"}}}});
  for (const nlohmann::json& codec : more) codecs.push_back(codec);
  return codecs;
}

/// Uncompressed, of version 3, with chunks named as in "c.0.1".
inline nlohmann::json zarr_3(const Extents& shape, const Extents& chunks,
                             const std::string& type = "uint8") {
  return {{"zarr_format", 3},
          {"node_type", "array"},
          {"shape", shape},
          {"data_type", type},
          {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", chunks}}}}},
          {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "."}}}}},
          {"fill_value", 0},
          {"codecs", codecs_3()}};
}

/// `shards` of `chunks`.
inline nlohmann::json sharded_3(const Extents& shape, const Extents& shards,
                                const Extents& chunks) {
  nlohmann::json array = zarr_3(shape, shards);
  nlohmann::json settings = {{"chunk_shape", chunks}, {"codecs", codecs_3()}};
  settings["index_codecs"] = codecs_3({{{"name", "crc32c"}}});
  array["codecs"] = nlohmann::json::array();
  array["codecs"].push_back({{"name", "sharding_indexed"}, {"configuration", settings}});
  return array;
}

/// Writes the metadata, and returns the folder of the array.
inline std::string write_zarr(const TemporaryFolder& folder, const std::string& name,
                              const nlohmann::json& array) {
  const bool version_2 = array.at("zarr_format") == 2;
  folder.write(name + (version_2 ? "/.zarray" : "/zarr.json"), array.dump());
  return folder.path(name);
}

/// `bytes` from `first` on: first, first + 1, ...
inline Bytes counting(std::size_t bytes, std::uint8_t first = 0) {
  Bytes all(bytes);
  for (std::uint8_t& byte : all) byte = first++;
  return all;
}

inline void append_number(Bytes& out, std::uint64_t value, std::size_t bytes = 8) {
  for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

inline std::unique_ptr<SourceStage> open_zarr(const std::string& path,
                                              const NamedValues& values = {}) {
  auto source = make_source("read.zarr", path, values);
  source->open();
  return source;
}

/// The bytes of the image.
inline std::vector<std::byte> zarr_sample(const SourceStage& source, std::uint64_t index) {
  return bytes_of(read_sample(source, index).field("image").view());
}

}  // namespace cachebisect::test
