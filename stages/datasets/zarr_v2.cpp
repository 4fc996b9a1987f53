#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "stages/datasets/zarr_metadata.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 9> kNumpyTypes{{{"u1", DType::uint8},
                                                                         {"i1", DType::int8},
                                                                         {"u2", DType::uint16},
                                                                         {"i4", DType::int32},
                                                                         {"i8", DType::int64},
                                                                         {"f2", DType::float16},
                                                                         {"f4", DType::float32},
                                                                         {"f8", DType::float64},
                                                                         {"b1", DType::boolean}}};

constexpr std::array<std::pair<std::string_view, ZarrCodec>, 4> kCompressors{
    {{"gzip", ZarrCodec::gzip},
     {"zlib", ZarrCodec::zlib},
     {"zstd", ZarrCodec::zstd},
     {"blosc", ZarrCodec::blosc}}};

/// "<f4"
void parse_numpy_type(const ZarrJson& json, ZarrArray& array) {
  if (!json.value().is_string()) json.refuse("has fields; an array of numbers can be read");
  const std::string name = json.text();
  for (const auto& [type, dtype] : kNumpyTypes) {
    if (name.size() != 3 || name.substr(1) != type) continue;
    const bool known_order =
        name[0] == '<' || name[0] == '>' || (name[0] == '|' && size_of(dtype) == 1);
    if (!known_order) break;
    array.dtype = dtype;
    array.big_endian = name[0] == '>';
    return;
  }
  json.refuse("is " + quote(name) +
              "; u1, i1, u2, i4, i8, f2, f4, f8 and b1 can be read: convert the array");
}

void parse_compressor(const ZarrJson& json, ZarrArray& array) {
  const std::string id = json["id"].text();
  for (const auto& [name, codec] : kCompressors) {
    if (id == name) return array.codecs.push_back(codec);
  }
  json.refuse("is " + quote(id) + "; blosc, zstd, gzip, zlib and none can be read");
}

}  // namespace

ZarrArray parse_zarr_v2(const ZarrJson& document) {
  ZarrArray array;
  if (document["zarr_format"].value() != 2) document["zarr_format"].refuse("is not 2");
  array.shape = document["shape"].extents(0);
  array.chunk = array.file_chunk = document["chunks"].extents(1);
  parse_numpy_type(document["dtype"], array);
  if (document["order"].text() != "C" && array.shape.rank() > 1) {
    document["order"].refuse("is " + quote(document["order"].text()) +
                             ": chunks in Fortran order cannot be read; write the array with "
                             "order \"C\"");
  }
  if (document.has("filters") && !document["filters"].items().empty()) {
    const ZarrJson first = document["filters"].items().front();
    first.refuse("has " + quote(first["id"].text()) + "; an array without filters can be read");
  }
  if (document.has("compressor")) parse_compressor(document["compressor"], array);
  if (document.has("dimension_separator")) {
    const std::string separator = document["dimension_separator"].text();
    if (separator != "." && separator != "/") {
      document["dimension_separator"].refuse("is " + quote(separator) + R"(; it is "." or "/")");
    }
    array.separator = separator[0];
  }
  array.fill = document.has("fill_value") ? parse_zarr_fill(document["fill_value"], array.dtype)
                                          : std::vector<std::byte>(size_of(array.dtype));
  return array;
}

}  // namespace cachebisect::stages
