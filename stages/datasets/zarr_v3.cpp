#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stages/datasets/zarr_metadata.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 9> kZarrTypes{{{"uint8", DType::uint8},
                                                                        {"int8", DType::int8},
                                                                        {"uint16", DType::uint16},
                                                                        {"int32", DType::int32},
                                                                        {"int64", DType::int64},
                                                                        {"float16", DType::float16},
                                                                        {"float32", DType::float32},
                                                                        {"float64", DType::float64},
                                                                        {"bool", DType::boolean}}};

constexpr std::array<std::pair<std::string_view, ZarrCodec>, 4> kByteCodecs{
    {{"gzip", ZarrCodec::gzip},
     {"zstd", ZarrCodec::zstd},
     {"blosc", ZarrCodec::blosc},
     {"crc32c", ZarrCodec::crc32c}}};

/// A codec, a grid or a chunk key encoding is an object, or its name alone.
std::string name_of(const ZarrJson& extension) {
  return extension.value().is_string() ? extension.text() : extension["name"].text();
}

bool has_setting(const ZarrJson& extension, const char* key) {
  return extension.value().is_object() && extension.has("configuration") &&
         extension["configuration"].has(key);
}

void parse_data_type(const ZarrJson& json, ZarrArray& array) {
  if (json.value().is_string()) {
    for (const auto& [name, dtype] : kZarrTypes) {
      if (json.text() != name) continue;
      array.dtype = dtype;
      return;
    }
  }
  json.refuse("is " + quote(json.value().dump()) +
              "; uint8, int8, uint16, int32, int64, float16, float32, float64 and bool can be "
              "read: convert the array");
}

/// "big": true.
bool parse_endian(const ZarrJson& codec) {
  if (!has_setting(codec, "endian")) return false;
  const ZarrJson endian = codec["configuration"]["endian"];
  const std::string name = endian.text();
  if (name != "little" && name != "big") endian.refuse("is " + quote(name));
  return name == "big";
}

/// Refuses all but the order that changes nothing.
void check_transpose(const ZarrJson& codec) {
  const ZarrJson order = codec["configuration"]["order"];
  const nlohmann::json& axes = order.value();
  bool unchanged = axes == "C";
  if (axes.is_array()) {
    unchanged = true;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) unchanged &= axes[axis] == axis;
  }
  if (!unchanged) {
    order.refuse("is " + quote(axes.dump()) +
                 ": transposed chunks (Fortran order) cannot be read; write the array with order "
                 "\"C\"");
  }
}

void parse_byte_codec(const ZarrJson& codec, const std::string& name, ZarrArray& array) {
  for (const auto& [known, kind] : kByteCodecs) {
    if (known != name) continue;
    bool compressed = kind != ZarrCodec::crc32c;
    for (const ZarrCodec earlier : array.codecs) {
      if (compressed && earlier != ZarrCodec::crc32c) codec.refuse("compress twice");
    }
    return array.codecs.push_back(kind);
  }
  codec.refuse("have " + quote(name) +
               "; bytes, sharding_indexed, blosc, zstd, gzip and crc32c can be read");
}

/// The codecs of a chunk, or of a chunk in a shard. Returns sharding_indexed, if they are that.
std::vector<ZarrJson> parse_codecs(const ZarrJson& codecs, ZarrArray& array) {
  std::vector<ZarrJson> sharding;
  bool has_bytes = false;
  for (const ZarrJson& codec : codecs.items()) {
    const std::string name = name_of(codec);
    if (!sharding.empty()) codec.refuse("store whole shards by " + quote(name));
    if (name == "transpose" && !has_bytes) {
      check_transpose(codec);
    } else if (name == "bytes" && !has_bytes) {
      array.big_endian = parse_endian(codec);
      has_bytes = true;
    } else if (name == "sharding_indexed" && !has_bytes) {
      sharding.push_back(codec);
    } else if (has_bytes) {
      parse_byte_codec(codec, name, array);
    } else {
      codec.refuse("have " + quote(name) + " before \"bytes\"");
    }
  }
  if (!has_bytes && sharding.empty()) codecs.refuse("lack \"bytes\"");
  return sharding;
}

ZarrShardIndex parse_index(const ZarrJson& settings) {
  ZarrShardIndex index;
  const std::vector<ZarrJson> codecs = settings["index_codecs"].items();
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    const std::string name = name_of(codecs[i]);
    if (i == 0 && name == "bytes") {
      index.big_endian = parse_endian(codecs[i]);
    } else if (i == 1 && name == "crc32c") {
      index.has_checksum = true;
    } else {
      codecs[i].refuse("have " + quote(name) + "; bytes, then crc32c, can be read");
    }
  }
  if (codecs.empty()) settings["index_codecs"].refuse("are none");
  if (!settings.has("index_location")) return index;
  const ZarrJson location = settings["index_location"];
  if (location.text() != "start" && location.text() != "end")
    location.refuse("is " + quote(location.text()));
  index.at_end = location.text() == "end";
  return index;
}

void parse_sharding(const ZarrJson& codec, ZarrArray& array) {
  const ZarrJson settings = codec["configuration"];
  array.sharded = true;
  array.chunk = settings["chunk_shape"].extents(1);
  array.shard_index = parse_index(settings);
  if (!parse_codecs(settings["codecs"], array).empty())
    settings["codecs"].refuse("have shards within shards");
}

void parse_keys(const ZarrJson& encoding, ZarrArray& array) {
  const std::string name = name_of(encoding);
  if (name != "default" && name != "v2") encoding.refuse("is " + quote(name));
  array.key_prefix = name == "default" ? "c" : "";
  array.separator = name == "default" ? '/' : '.';
  if (!has_setting(encoding, "separator")) return;
  const ZarrJson separator = encoding["configuration"]["separator"];
  if (separator.text() != "." && separator.text() != "/")
    separator.refuse("is " + quote(separator.text()) + R"(; it is "." or "/")");
  array.separator = separator.text()[0];
}

}  // namespace

ZarrArray parse_zarr_v3(const ZarrJson& document) {
  ZarrArray array;
  if (document["zarr_format"].value() != 3) document["zarr_format"].refuse("is not 3");
  const ZarrJson type = document["node_type"];
  if (type.text() == "group") type.refuse("is \"group\"; name an array in it");
  if (type.text() != "array") type.refuse("is " + quote(type.text()));
  array.shape = document["shape"].extents(0);
  const ZarrJson grid = document["chunk_grid"];
  if (name_of(grid) != "regular") grid.refuse("is " + quote(name_of(grid)) + ", not regular");
  array.chunk = array.file_chunk = grid["configuration"]["chunk_shape"].extents(1);
  parse_data_type(document["data_type"], array);
  if (document.has("storage_transformers") && !document["storage_transformers"].items().empty())
    document["storage_transformers"].refuse("cannot be undone");
  const std::vector<ZarrJson> sharding = parse_codecs(document["codecs"], array);
  if (!sharding.empty()) parse_sharding(sharding.front(), array);
  parse_keys(document["chunk_key_encoding"], array);
  array.fill = parse_zarr_fill(document["fill_value"], array.dtype);
  return array;
}

}  // namespace cachebisect::stages
