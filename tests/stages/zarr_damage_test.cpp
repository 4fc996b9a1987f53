// read.zarr of damaged and hostile arrays: an error that names the file, and nothing allocated.
#include <filesystem>
#include <limits>

#include "stages/datasets/zarr_array.hpp"
#include "stages/datasets/zarr_reader.hpp"
#include "stages/zarr_files.hpp"
#include "support/errors.hpp"
#include "support/fuzz_cases.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/format/crc32c.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

/// The error of opening the array and reading its first sample, after the folder's path.
std::string open_and_read(const std::string& path) {
  const std::string error = error_of([&] {
    const auto source = make_source("read.zarr", path);
    source->open();
    static_cast<void>(read_sample(*source, 0));
  });
  const std::size_t at = error.find(path);
  return at == std::string::npos ? error : error.substr(0, 3) + error.substr(at + path.size());
}

/// The error of an array with this metadata, whose chunks are not there.
std::string metadata_error(const nlohmann::json& array) {
  const TemporaryFolder folder;
  return open_and_read(write_zarr(folder, "a", array));
}

/// With one of its members replaced.
nlohmann::json with(nlohmann::json array, const char* pointer, const nlohmann::json& value) {
  array[nlohmann::json::json_pointer(pointer)] = value;
  return array;
}

nlohmann::json compressed(const std::string& name) {
  return {{"name", name}, {"configuration", nlohmann::json::object()}};
}

/// The error of a chunk of 3 x 4 bytes after this codec.
std::string chunk_error(const std::vector<nlohmann::json>& codecs, const Bytes& chunk) {
  const TemporaryFolder folder;
  const std::string path =
      write_zarr(folder, "a", with(zarr_3({3, 4}, {3, 4}), "/codecs", codecs_3(codecs)));
  folder.write("a/c.0.0", chunk);
  return open_and_read(path);
}

Bytes blosc_header(std::uint32_t content, std::uint32_t block, std::uint32_t all) {
  Bytes bytes{2, 1, 0x21, 1};
  for (const std::uint32_t value : {content, block, all}) append_number(bytes, value, 4);
  return bytes;
}

/// 2 x 2 chunks of 2 x 2 bytes, with this table.
Bytes shard_of(const std::vector<std::uint64_t>& table) {
  Bytes bytes = counting(16);
  Bytes words;
  for (const std::uint64_t word : table) append_number(words, word);
  bytes.insert(bytes.end(), words.begin(), words.end());
  append_number(bytes, crc32c({reinterpret_cast<const char*>(words.data()), words.size()}), 4);
  return bytes;
}

std::string shard_error(const Bytes& shard) {
  const TemporaryFolder folder;
  const std::string path = write_zarr(folder, "a", sharded_3({4, 4}, {4, 4}, {2, 2}));
  folder.write("a/c.0.0", shard);
  return open_and_read(path);
}

}  // namespace

TEST_CASE("what is no array is refused") {
  const TemporaryFolder folder;
  CHECK(open_and_read(folder.path("none")) ==
        "3: : has neither .zarray nor zarr.json; name the folder of a Zarr array");
  folder.write("group/.zgroup", "{}");
  CHECK(open_and_read(folder.path("group")) == "3: : is a group of Zarr; name an array in it");
  folder.write("group3/zarr.json", R"({"zarr_format": 3, "node_type": "group"})");
  CHECK(open_and_read(folder.path("group3")) ==
        "3: /zarr.json: node_type is \"group\"; name an array in it");
  folder.write("text/.zarray", "[1, 2");
  CHECK(has(open_and_read(folder.path("text")), "3: /.zarray:1:"));
  folder.write("list/zarr.json", "[]");
  CHECK(open_and_read(folder.path("list")) == "3: /zarr.json: is no object");
  folder.write("large/zarr.json", std::string(5'000'000, ' '));
  CHECK(has(open_and_read(folder.path("large")), "3: /zarr.json: has 5.0 MB, more than"));
  std::filesystem::create_directories(folder.path("folder/zarr.json"));
  CHECK(has(open_and_read(folder.path("folder")), "3: /zarr.json: is a folder, not a file"));
  CHECK(has(metadata_error(zarr_2({3, 4}, {3, 4})), "3: : has no chunks, so that every sample"));
}

TEST_CASE("metadata that claims too much, or what cannot be read, is refused") {
  const nlohmann::json second = zarr_2({6, 4}, {3, 4});
  const nlohmann::json third = zarr_3({6, 4}, {3, 4});
  const auto error_2 = [&](const char* pointer, const nlohmann::json& value) {
    return metadata_error(with(second, pointer, value));
  };
  const auto error_3 = [&](const char* pointer, const nlohmann::json& value) {
    return metadata_error(with(third, pointer, value));
  };
  CHECK(has(error_2("/chunks", {kHuge, 1}), "3: /.zarray: claims chunks of [1099511627776, 1]"));
  CHECK(has(error_2("/chunks", {kHuge, kHuge}), "claims chunks of"));
  CHECK(has(error_2("/shape", {kHuge, kHuge}), "more than fits 64 bits"));
  CHECK(metadata_error(zarr_2({2, kHuge}, {1, 4})) ==
        "2: : a sample would be [1099511627776], more than 1 GiB; give a smaller \"window\"");
  CHECK(has(error_2("/shape", {kHuge, kHuge, 0}), "chunks of another number of dimensions"));
  CHECK(has(error_2("/shape", {std::numeric_limits<std::int64_t>::max(), 4}), "64 bits"));
  CHECK(has(error_2("/shape", {std::numeric_limits<std::uint64_t>::max(), 4}), "has the extent"));
  CHECK(has(error_2("/shape", {-1, 4}), "3: /.zarray: shape has the extent \"-1\"; it must be a"));
  CHECK(has(error_2("/shape", {2.5, 4}), "has the extent \"2.5\""));
  CHECK(has(error_2("/shape", {0, 4}), "there is nothing to read"));
  CHECK(has(error_2("/shape", nlohmann::json::array()), "has 0 dimensions; 1 to 6 can be read"));
  CHECK(has(error_2("/shape", Extents(7, 1)), "has 7 dimensions"));
  CHECK(has(error_2("/shape", "6"), "3: /.zarray: shape is no list"));
  CHECK(has(error_2("/chunks", {0, 4}), "whole number from 1"));
  CHECK(has(error_2("/chunks", {6}), "another number of dimensions"));
  CHECK(has(error_2("/order", "F"), "chunks in Fortran order cannot be read; write the array"));
  CHECK(has(error_2("/filters", {{{"id", "delta"}}}), "has \"delta\"; an array without filters"));
  CHECK(has(error_2("/compressor", {{"id", "lzma"}}), "compressor is \"lzma\"; blosc, zstd"));
  CHECK(has(error_2("/compressor", {{"level", 1}}), "compressor has no id"));
  CHECK(has(error_2("/dtype", "<i2"), "dtype is \"<i2\"; u1, i1"));
  CHECK(has(error_2("/dtype", "|i4"), "dtype is \"|i4\""));
  CHECK(has(error_2("/dtype", "<U4"), "convert the array"));
  CHECK(has(error_2("/dtype", {{"x", "<i4"}}), "dtype has fields"));
  CHECK(has(error_2("/fill_value", 256), "fill_value is \"256\", no uint8"));
  CHECK(has(error_2("/fill_value", "AAAA"), "no uint8"));
  CHECK(has(error_2("/dimension_separator", "-"), "dimension_separator is \"-\""));
  const TemporaryFolder folder;
  folder.write("a/.zarray", with(second, "/zarr_format", 1).dump());
  CHECK(has(open_and_read(folder.path("a")), "3: /.zarray: zarr_format is not 2"));

  CHECK(has(error_3("/data_type", "int16"), "data_type is \"\\\"int16\\\"\"; uint8"));
  CHECK(has(error_3("/data_type", {{"name", "numpy.datetime64"}}), "convert the array"));
  CHECK(has(error_3("/chunk_grid/name", "rectangular"), "is \"rectangular\", not regular"));
  CHECK(has(error_3("/chunk_grid/configuration/chunk_shape", {kHuge, 4}), "claims chunks of"));
  CHECK(has(error_3("/chunk_key_encoding/name", "base64"), "chunk_key_encoding is \"base64\""));
  CHECK(has(error_3("/storage_transformers", {"x"}), "storage_transformers cannot be undone"));
  CHECK(has(error_3("/fill_value", "0x1"), "no uint8"));
  CHECK(has(error_3("/codecs", nlohmann::json::array()), "codecs lack \"bytes\""));
  const nlohmann::json transpose = {{"name", "transpose"}, {"configuration", {{"order", {1, 0}}}}};
  nlohmann::json codecs = codecs_3();
  codecs.insert(codecs.begin(), transpose);
  CHECK(has(error_3("/codecs", codecs), "transposed chunks (Fortran order) cannot be read"));
  CHECK(has(error_3("/codecs", codecs_3({compressed("lzma")})), "codecs have \"lzma\"; bytes"));
  CHECK(has(error_3("/codecs", codecs_3({compressed("gzip"), compressed("gzip")})), "twice"));

  const nlohmann::json sharded = sharded_3({8, 8}, {4, 4}, {2, 2});
  const auto error_s = [&](const char* pointer, const nlohmann::json& value) {
    return metadata_error(with(sharded, pointer, value));
  };
  const char* const inner = "/codecs/0/configuration/chunk_shape";
  CHECK(has(error_s(inner, {3, 2}), "has shards of [4, 4], no multiple of their chunks [3, 2]"));
  CHECK(has(error_s("/chunk_grid/configuration/chunk_shape", {kHuge, 4}), "chunks per shard"));
  CHECK(has(error_s("/codecs/0/configuration/index_codecs", codecs_3({compressed("gzip")})),
            "index_codecs have \"gzip\""));
  CHECK(has(error_s("/codecs/0/configuration/codecs", sharded["codecs"]), "shards within shards"));
  CHECK(has(error_s("/codecs/1", compressed("gzip")), "store whole shards by \"gzip\""));
}

TEST_CASE("an array of 2^40 chunks is read, as far as they are there") {
  const TemporaryFolder folder;
  const std::string path = write_zarr(folder, "a", zarr_2({kHuge, 4}, {1, 4}));
  folder.write("a/1099511627775.0", counting(4, 1));
  const auto source = make_source("read.zarr", path);
  source->open();
  CHECK(source->size() == static_cast<std::uint64_t>(kHuge));
  const auto at = [&](std::uint64_t index) {
    return read_sample(*source, index).field("image").as<std::uint8_t>()[3];
  };
  CHECK(at(0) == 0);
  CHECK(at(static_cast<std::uint64_t>(kHuge) - 1) == 4);
}

TEST_CASE("chunks that are damaged, cut short or of another size are refused by name") {
  CHECK(chunk_error({}, counting(12)).empty());
  CHECK(
      chunk_error({}, counting(11)) ==
      "3: /c.0.0: holds a chunk of 11 bytes; the metadata asks for 12: the chunk is cut short, or "
      "not of this array");
  CHECK(has(chunk_error({}, counting(13)), "holds a chunk of 13 bytes"));
  CHECK(has(chunk_error({}, {}), "holds a chunk of 0 bytes"));
  CHECK(has(chunk_error({compressed("gzip")}, Bytes(70'000, 1)), "asks for at most 65551"));

  const Bytes gzip{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  CHECK(has(chunk_error({compressed("gzip")}, counting(30)),
            "3: /c.0.0: the chunk at byte 0 is no gzip or zlib data: "));
  CHECK(has(chunk_error({compressed("gzip")}, gzip), "it ends too early"));
  CHECK(has(chunk_error({compressed("crc32c")}, counting(16)), "does not match its checksum"));
  CHECK(has(chunk_error({compressed("crc32c")}, counting(3)), "too few for its checksum"));
  const std::string zstd = chunk_error({compressed("zstd")}, counting(30));
  CHECK((has(zstd, "is no Zstandard data: ") || has(zstd, "libzstd")));

  const auto blosc = [](const Bytes& chunk) { return chunk_error({compressed("blosc")}, chunk); };
  if (has(blosc(counting(30)), "libblosc")) return;
  CHECK(has(blosc(counting(30)), "is no Blosc data: its header does not match its 30 bytes"));
  CHECK(has(blosc(blosc_header(0xFFFFFFFF, 12, 16)), "is no Blosc data"));
  CHECK(has(blosc(blosc_header(0x7FFFFFEF, 12, 16)), "claims 2147483631 bytes instead of 12"));
  CHECK(has(blosc(blosc_header(12, 12, 0xFFFFFFFF)), "is no Blosc data"));
  CHECK(has(blosc(blosc_header(12, 12, 16)), "is damaged, or was compressed by what"));
  CHECK(has(blosc(Bytes{2, 1}), "is no Blosc data"));
}

TEST_CASE("a shard's table is checked before it is used") {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  CHECK(shard_error(shard_of({0, 4, 4, 4, 8, 4, 12, 4})).empty());
  CHECK(shard_error(shard_of({kNone, kNone, 4, 4, kNone, kNone, 12, 4})).empty());
  CHECK(shard_error(shard_of({0, 4, std::uint64_t{1} << 60, 4, 8, 4, 12, 4})) ==
        "3: /c.0.0: its table puts chunk 1 at byte 1152921504606846976 with 4 bytes, beyond the "
        "shard's 84");
  CHECK(has(shard_error(shard_of({0, 4, 82, 4, 8, 4, 12, 4})), "beyond the shard's 84"));
  CHECK(has(shard_error(shard_of({0, 4, 4, kNone, 8, 4, 12, 4})), "beyond the shard's 84"));
  CHECK(has(shard_error(shard_of({0, 4, kNone, 4, 8, 4, 12, 4})), "beyond the shard's 84"));
  CHECK(has(shard_error(shard_of({0, 4, 4, 5, 8, 4, 12, 4})), "holds a chunk of 5 bytes"));
  Bytes damaged = shard_of({0, 4, 4, 4, 8, 4, 12, 4});
  damaged[20] ^= 1;
  CHECK(has(shard_error(damaged), "its table of chunks does not match its checksum"));
  CHECK(has(shard_error(counting(67)), "is a shard of 67 bytes, too few for its table of 68"));
  CHECK(has(shard_error({}), "is a shard of 0 bytes"));
}

TEST_CASE("damaged bytes of arrays give an error or another value, and nothing worse") {
  const TemporaryFolder folder;
  RandomStream random({.seed = 5});
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(CACHEBISECT_SOURCE_DIR "/tests/fixtures/zarr")) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < fuzz_cases(400); ++i) {
    const std::string& name = names[i % names.size()];
    const std::string path = folder.path(std::to_string(i));
    std::filesystem::copy(CACHEBISECT_SOURCE_DIR "/tests/fixtures/zarr/" + name, path,
                          std::filesystem::copy_options::recursive);
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    const std::string& file = files[random.next_u32() % files.size()];
    std::string text = read_file(file);
    for (std::uint32_t change = 0; change <= random.next_u32() % 3; ++change)
      text[random.next_u32() % text.size()] = static_cast<char>(random.next_u32());
    if (random.next_u32() % 4 == 0) text.resize(random.next_u32() % text.size());
    folder.write(std::filesystem::path(file).lexically_relative(folder.path()).string(), text);
    try {
      const auto source = make_source("read.zarr", path);
      source->open();
      for (std::uint64_t s = 0; s < std::min<std::uint64_t>(source->size(), 8); ++s)
        static_cast<void>(read_sample(*source, s));
    } catch (const Error& error) {
      ++refused;
      CHECK(error.kind() != ErrorKind::internal);
    }
    std::filesystem::remove_all(path);
  }
  CHECK(refused > 50);
}
