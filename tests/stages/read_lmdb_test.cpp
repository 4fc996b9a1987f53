// read.lmdb: files that py-lmdb wrote, labels where common scripts put them, damaged files.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include "stages/datasets/labelled_value.hpp"
#include "support/allocation_counter.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/fuzz_cases.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <zlib.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const std::string kFolder = CACHEBISECT_SOURCE_DIR "/tests/fixtures/lmdb/";
constexpr std::size_t kPageBytes = 4096;

std::unique_ptr<SourceStage> open_lmdb(const std::string& path, const std::string& label) {
  auto source = make_source("read.lmdb", path, {{"label", label}});
  source->open();
  return source;
}

std::string image_text(const Sample& sample) {
  const auto bytes = sample.field("image").as<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

/// The error of opening a file with these bytes and reading its first sample, after its path.
std::string lmdb_error(const std::string& bytes, const std::string& label = "pickle") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.mdb", bytes);
  const std::string error =
      error_of([&] { static_cast<void>(read_sample(*open_lmdb(path, label), 0)); });
  return error.empty() ? error : error.substr(0, 3) + error.substr(error.find(path) + path.size());
}

template <class T>
T number_in_file(const std::string& bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
std::string patched(std::string bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

/// Where the newer of the two meta pages is.
std::size_t newer_meta(const std::string& bytes) {
  const auto transaction = [&](std::size_t page) {
    return number_in_file<std::uint64_t>(bytes, page + 144);
  };
  return transaction(kPageBytes) > transaction(0) ? kPageBytes : 0;
}

std::size_t root_page(const std::string& bytes) {
  return number_in_file<std::uint64_t>(bytes, newer_meta(bytes) + 128) * kPageBytes;
}

}  // namespace

TEST_CASE("samples are those that py-lmdb reads, in the order of their keys") {
  std::istringstream lines(read_file(kFolder + "samples.txt"));
  std::map<std::string, std::vector<std::string>> expected;
  for (std::string line; std::getline(lines, line);)
    expected[line.substr(0, line.find(' '))].push_back(line);
  CHECK(expected.size() == 3);
  for (const auto& [name, samples] : expected) {
    CAPTURE(name);
    const auto source = open_lmdb(kFolder + name, name.substr(0, name.find('.')));
    REQUIRE(source->size() == samples.size());
    for (std::uint64_t i = 0; i < source->size(); ++i) {
      const Sample sample = read_sample(*source, i);
      std::ostringstream line;
      line << name << ' ' << sample.origin().name << ' ' << sample.field("label").as_integer()
           << ' ';
      const std::string image = image_text(sample);
      line << image.size() << ' '
           << crc32(0, reinterpret_cast<const Bytef*>(image.data()),
                    static_cast<uInt>(image.size()));
      REQUIRE(line.str() == samples[i]);
    }
  }
}

TEST_CASE("the place of a sample is that of its value") {
  const auto source = open_lmdb(kFolder + "key", "none");
  CHECK(source->infer().size() == 1);
  CHECK_FALSE(source->generated());
  const std::string bytes = read_file(kFolder + "key/data.mdb");
  std::size_t large = 0;
  for (std::uint64_t i = 0; i < source->size(); ++i) {
    const Sample sample = read_sample(*source, i);
    CHECK(sample.find("label") == nullptr);
    const auto files = source->files({i});
    REQUIRE(files.size() == 1);
    CHECK(files[0].path == kFolder + "key/data.mdb");
    CHECK(bytes.substr(files[0].offset, files[0].bytes) == image_text(sample));
    large += files[0].offset % kPageBytes == 16 ? 1U : 0U;
  }
  CHECK(large >= 2);
  CHECK(has(error_of([&] { read_sample(*source, 20); }), "1: sample 20 of 20"));
  CHECK(read_sample(*source, 0).origin().to_string() == kFolder + "key/data.mdb/0/photo_0");
}

TEST_CASE("nothing is allocated for a sample, once the largest was read") {
  const auto source = open_lmdb(kFolder + "pickle.mdb", "pickle");
  Arena arena;
  Sample sample;
  const auto pass = [&] {
    for (std::uint64_t i = 0; i < source->size(); ++i) {
      sample.set_index({i});
      source->read(sample, SampleContext({.index = i}, arena));
      arena.reset();
    }
  };
  pass();
  const std::uint64_t before = allocations.load();
  pass();
  CHECK(allocations.load() == before);
}

TEST_CASE("values of another kind than \"label\" says are refused by their key") {
  const auto error = [](const std::string& file, const std::string& label) {
    return error_of([&] { static_cast<void>(read_sample(*open_lmdb(kFolder + file, label), 0)); })
        .substr(3 + kFolder.size());
  };
  CHECK(error("datum.mdb", "pickle") ==
        "datum.mdb: the value of \"00000000_n0\" is no pickled (image bytes, label); is \"label\" "
        "right?");
  CHECK(has(error("pickle.mdb", "datum"), "is no Datum with an encoded image"));
  CHECK(has(error("raw_datum.mdb", "datum"), "is no Datum with an encoded image"));
  const auto keyed = open_lmdb(kFolder + "pickle.mdb", "key");
  CHECK(has(error_of([&] { read_sample(*keyed, 60); }), "a key that begins with no whole number"));
}

TEST_CASE("pickles are read without being executed") {
  const auto parse = [](const std::string& text) {
    const auto pair = stages::parse_pickled_pair(std::as_bytes(std::span(text)));
    return pair ? std::to_string(pair->image.size()) + " " + std::to_string(pair->label) : "none";
  };
  using namespace std::string_literals;
  CHECK(parse("\x80\x04\x43\x03"s + "abcK\x07\x86\x94.") == "3 7");
  CHECK(parse("\x80\x04\x42\x03\0\0\0"s + "abcM\x01\x02\x86.") == "3 513");
  CHECK(parse("\x80\x04\x8e\x03\0\0\0\0\0\0\0"s + "abcJ\xff\xff\xff\xff\x86.") == "3 -1");
  CHECK(parse("\x80\x04\x43\x03"s + "abcK\x07\x86\x94") == "none");
  CHECK(parse("\x80\x04\x43\x09"s + "abcK\x07\x86.") == "none");
  CHECK(parse("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff"s + "abcK\x07\x86.") == "none");
  CHECK(parse("\x80\x04K\x07\x43\x01"s + "a\x86.") == "none");
  CHECK(parse("\x80\x04\x43\x01"s + "aK\x07K\x07\x87.") == "none");
  CHECK(parse("cos\nsystem\n(S'x'\ntR.") == "none");
  CHECK(parse("") == "none");
}

TEST_CASE("a key's label is the number at its beginning") {
  CHECK(stages::leading_number("0007") == 7);
  CHECK(stages::leading_number("12/a") == 12);
  CHECK_FALSE(stages::leading_number("a1"));
  CHECK_FALSE(stages::leading_number(""));
  CHECK_FALSE(stages::leading_number("99999999999999999999"));
}

TEST_CASE("files that are no LMDB, or hold what cannot be read, are refused") {
  CHECK(has(error_of([] { open_lmdb("/none", "pickle"); }), "3: /none: "));
  CHECK(lmdb_error("") == "3: : is no LMDB file that this machine could write");
  CHECK(lmdb_error(std::string(9000, 'x')) == "3: : is no LMDB file that this machine could write");
  CHECK(lmdb_error(read_file(kFolder + "empty.mdb")) == "3: : has no entries");
  CHECK(lmdb_error(read_file(kFolder + "named.mdb")) ==
        "3: : has named databases, such as \"train\"; the unnamed one can be read");
  const std::string whole = read_file(kFolder + "pickle.mdb");
  CHECK(lmdb_error(whole).empty());
  CHECK(lmdb_error(patched(whole, 20, std::uint32_t{2})) ==
        "3: : is of version 2 of LMDB's format; version 1, of LMDB 0.9, can be read");
  CHECK(lmdb_error(patched(whole, 40, std::uint32_t{3000})) ==
        "3: : is no LMDB file that this machine could write");
  CHECK(lmdb_error(whole.substr(0, whole.size() - 1)) ==
        "3: : has 12 pages, and its table says that the last is 12; the file was cut short");
}

TEST_CASE("a tree that leads nowhere, or in a circle, ends with an error") {
  const std::string whole = read_file(kFolder + "pickle.mdb");
  const std::size_t root = root_page(whole);
  REQUIRE(number_in_file<std::uint16_t>(whole, root + 10) == 1);  // a branch page
  const std::size_t child = root + number_in_file<std::uint16_t>(whole, root + 16);
  const auto root_number = static_cast<std::uint32_t>(root / kPageBytes);
  CHECK(has(lmdb_error(patched(whole, child, root_number)), "or in a circle; the file is damaged"));
  CHECK(has(lmdb_error(patched(whole, child, std::uint32_t{0x7FFFFFFF})),
            "leads to page 2147483647, beyond its end"));
  CHECK(has(lmdb_error(patched(whole, newer_meta(whole) + 128, std::uint64_t{1} << 60)),
            "beyond its end"));
  CHECK(has(lmdb_error(patched(whole, child, std::uint32_t{0})), "page 0 has a damaged header"));
  CHECK(has(lmdb_error(patched(whole, root + 12, std::uint16_t{0xFFFF})), "has a damaged header"));
  CHECK(has(lmdb_error(patched(whole, root + 16, std::uint16_t{0xFFFF})), "beyond its end"));

  const std::size_t leaf = number_in_file<std::uint32_t>(whole, child) * kPageBytes;
  const std::size_t entry = leaf + number_in_file<std::uint16_t>(whole, leaf + 16);
  REQUIRE(number_in_file<std::uint16_t>(whole, leaf + 10) == 2);
  CHECK(has(lmdb_error(patched(whole, entry, std::uint32_t{0x7FFFFFFF})), "beyond its end"));
  CHECK(has(lmdb_error(patched(whole, entry + 6, std::uint16_t{60'000})), "beyond its end"));
  CHECK(has(lmdb_error(patched(whole, entry + 4, std::uint16_t{4})), "several values under"));
  CHECK(has(lmdb_error(patched(whole, entry + 4, std::uint16_t{1})), "beyond the end of the file"));
}

TEST_CASE("damaged bytes of an LMDB file give an error or another value, and nothing worse") {
  const std::string whole = read_file(kFolder + "pickle.mdb");
  const TemporaryFolder folder;
  RandomStream random({.seed = 11});
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < fuzz_cases(300); ++i) {
    std::string bytes = whole;
    for (std::uint32_t change = 0; change < 1 + random.next_u32() % 30; ++change)
      bytes[random.next_u32() % bytes.size()] = static_cast<char>(random.next_u32());
    const std::string path = folder.path("a.mdb");
    std::filesystem::remove(path);
    folder.write("a.mdb", bytes);
    try {
      const auto source = open_lmdb(path, "pickle");
      for (std::uint64_t s = 0; s < std::min<std::uint64_t>(source->size(), 80); ++s)
        static_cast<void>(read_sample(*source, s));
    } catch (const Error& error) {
      ++refused;
      CHECK(error.kind() == ErrorKind::data);
    }
  }
  CHECK(refused > 30);
}
