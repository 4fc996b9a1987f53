// read.webdataset over compressed archives: the samples of what they unpack to, archive by archive.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "stages/tar_archive.hpp"
#include "support/allocation_counter.hpp"
#include "support/errors.hpp"
#include "support/folder_server.hpp"
#include "support/http_client.hpp"
#include "support/idx_files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/run_reader.hpp"
#include "cachebisect/pipeline/sampler.hpp"
#include "cachebisect/shards/record_codec.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::unique_ptr<SourceStage> opened_packed(const std::string& path, double buffer_mb = 1) {
  auto source = make_source("read.webdataset", path, {{"shuffle_buffer_mb", buffer_mb}});
  source->open();
  return source;
}

std::string packed_error(const std::string& path, double buffer_mb = 1) {
  return error_of([&] { opened_packed(path, buffer_mb); });
}

Bytes bytes_of_text(const std::string& text) { return {text.begin(), text.end()}; }

void write_gz(const std::string& path, const std::string& content) {
  write_gzip(path, bytes_of_text(content));
}

std::string zstd_frame(const std::string& content) {
  std::vector<std::byte> stored;
  shards::make_codec("zstd:3")->compress(std::as_bytes(std::span(content)), stored);
  return {reinterpret_cast<const char*>(stored.data()), stored.size()};
}

bool has_zstd() {
  const auto codecs = shards::codecs_of_this_build();
  return std::ranges::find(codecs, "zstd:1") != codecs.end();
}

/// Images whose bytes hardly compress, and labels that count.
std::string packed_members(int first, int end, std::size_t bytes = 2000) {
  std::string text;
  for (int i = first; i < end; ++i) {
    std::string image = std::to_string(i) + " ";
    for (unsigned random = static_cast<unsigned>(i) + 1; image.size() < bytes;) {
      random = random * 1'664'525U + 1'013'904'223U;
      image += static_cast<char>(random >> 24U);
    }
    text += tar_sample(std::to_string(i), image, std::to_string(i));
  }
  return text;
}

std::string shown_packed(const Sample& sample) {
  const auto image = sample.field("image").as<std::uint8_t>();
  return std::string(image.begin(), image.end()) + "|" +
         std::to_string(sample.field("label").as_integer()) + "|" +
         std::string(sample.origin().name);
}

void check_as_plain(const std::string& packed, const std::string& plain) {
  CAPTURE(packed);
  const auto expected = opened_packed(plain, 0);
  const auto source = opened_packed(packed);
  REQUIRE(source->size() == expected->size());
  for (std::uint64_t i = source->size(); i-- > 0;) {
    CHECK(shown_packed(read_sample(*source, i)) == shown_packed(read_sample(*expected, i)));
  }
}

/// Opens and reads: all samples are right, or an error of kind data names the file.
bool is_right_or_refused(const std::string& path, const std::vector<std::string>& expected) {
  const std::string error = error_of([&] {
    const auto source = opened_packed(path);
    REQUIRE(source->size() == expected.size());
    for (std::uint64_t i = 0; i < source->size(); ++i) {
      const std::string text = shown_packed(read_sample(*source, i));
      CHECK(text == expected[i]);
    }
  });
  if (!error.empty()) CHECK(has(error, "3: " + path + ": "));
  return error.empty();
}

std::vector<std::string> shown_all(const std::string& path) {
  std::vector<std::string> all;
  const auto source = opened_packed(path);
  for (std::uint64_t i = 0; i < source->size(); ++i)
    all.push_back(shown_packed(read_sample(*source, i)));
  return all;
}

const std::string kPackedFixtures = CACHEBISECT_SOURCE_DIR "/tests/fixtures/tar/";

}  // namespace

TEST_CASE("what tarfile, WebDataset and Zstandard have packed is read as what they packed") {
  check_as_plain(kPackedFixtures + "packed/pax.tar.gz", kPackedFixtures + "pax.tar");
  check_as_plain(kPackedFixtures + "packed/webdataset.tar.gz", kPackedFixtures + "webdataset.tar");
  if (has_zstd()) {
    check_as_plain(kPackedFixtures + "packed/pax.tar.zst", kPackedFixtures + "pax.tar");
  }
}

TEST_CASE("a file of several members or frames is their content one after the other") {
  const TemporaryFolder folder;
  const std::string tar = packed_members(0, 20) + tar_end();
  const std::string plain = folder.write("a.tar", tar);
  write_gz(folder.path("first"), tar.substr(0, 5000));
  write_gz(folder.path("second"), tar.substr(5000));
  const std::string gz =
      folder.write("a.tar.gz", read_file(folder.path("first")) + read_file(folder.path("second")));
  check_as_plain(gz, plain);
  if (has_zstd()) {
    const std::string skipped("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
    const std::string zst = folder.write(
        "a.tar.zst", zstd_frame(tar.substr(0, 5000)) + skipped + zstd_frame(tar.substr(5000)));
    check_as_plain(zst, plain);
  }
}

TEST_CASE("a folder without *.tar gives its compressed archives, in natural order") {
  const TemporaryFolder folder;
  write_gz(folder.path("a-10.tar.gz"), packed_members(10, 12) + tar_end());
  write_gz(folder.path("a-9.tgz"), packed_members(8, 10) + tar_end());
  const auto source = opened_packed(folder.path());
  REQUIRE(source->size() == 4);
  for (std::uint64_t i = 0; i < 4; ++i) {
    CHECK(read_sample(*source, i).field("label").as_integer() == static_cast<std::int64_t>(8 + i));
  }
  folder.write("b.tar", packed_members(0, 1) + tar_end());
  CHECK(opened_packed(folder.path())->size() == 1);
}

TEST_CASE("an epoch unpacks each archive once, in the order of the sampler") {
  const TemporaryFolder folder;
  constexpr int kArchives = 12;
  for (int a = 0; a < kArchives; ++a) {
    write_gz(folder.path("a-" + std::to_string(a + 1) + ".tar.gz"),
             packed_members(10 * a, 10 * a + 10) + tar_end());
  }
  // 37 kB each, unpacked: room for seven.
  const auto source = opened_packed(folder.path("a-{1..12}.tar.gz"), 0.26);
  CHECK(source->read_runs().samples == 10);
  CHECK(source->read_runs().mixed == 2);
  int unpacked = 0;
  REQUIRE(dynamic_cast<RunReader&>(*source).listen([&](std::uint64_t bytes) {
    CHECK(bytes > 15'000);
    CHECK(bytes < 30'000);
    ++unpacked;
  }));
  for (const bool shuffle : {true, false}) {
    unpacked = 0;
    const Sampler sampler(source->size(), 1, shuffle, source->read_runs());
    std::vector<std::uint64_t> seen;
    for (std::uint64_t p = 0; p < source->size(); ++p) {
      const SampleIndex index = sampler.index(0, p);
      CHECK(read_sample(*source, index.value).field("label").as_integer() ==
            static_cast<std::int64_t>(index.value));
      seen.push_back(index.value);
    }
    std::ranges::sort(seen);
    CHECK(std::ranges::adjacent_find(seen) == seen.end());
    CHECK(unpacked <= kArchives);
    CHECK(unpacked >= kArchives - 7);  // Some were still there.
  }
}

TEST_CASE("the parts of an archive that its samples have are all of its file") {
  const TemporaryFolder folder;
  write_gz(folder.path("a.tar.gz"), packed_members(0, 7) + tar_end());
  const auto source = opened_packed(folder.path("a.tar.gz"));
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < 7; ++i) {
    const auto ranges = source->files({i});
    REQUIRE(ranges.size() == 1);
    CHECK(ranges[0].offset == end);
    end += ranges[0].bytes;
  }
  CHECK(end == std::filesystem::file_size(folder.path("a.tar.gz")));
}

TEST_CASE("without a buffer that holds four of them, compressed archives are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.tar.gz");
  write_gz(path, packed_members(0, 100) + tar_end());
  CHECK(has(packed_error(path, 0), "3: " + path + ": is compressed with gzip, so its members "));
  CHECK(has(packed_error(path, 0), "give \"shuffle_buffer_mb\""));
  CHECK(has(packed_error(path, 0), "gunzip -c " + path + " > NEW.tar"));
  CHECK(has(packed_error(path, 1), "unpacks to more than 250 kB, a quarter of shuffle_buffer_mb"));
  CHECK(packed_error(path, 2).empty());
  folder.write("b-0.tar", packed_members(0, 1000) + tar_end());
  write_gz(folder.path("b-1.tar"), packed_members(0, 1) + tar_end());
  CHECK(has(packed_error(folder.path("b-{0..1}.tar"), 2), "b-0.tar: has 3.6 MB, more than a quar"));
}

TEST_CASE("a compressed archive that is cut or flipped gives no wrong sample") {
  const TemporaryFolder folder;
  std::vector<std::string> files{folder.path("a.tar.gz")};
  write_gz(files[0], packed_members(0, 5, 300) + tar_end());
  if (has_zstd()) {
    files.push_back(folder.write("a.tar.zst", read_file(kPackedFixtures + "packed/pax.tar.zst")));
  }
  for (const std::string& file : files) {
    CAPTURE(file);
    const std::string whole = read_file(file);
    const auto expected = shown_all(file);
    for (std::size_t at = 0; at < whole.size(); at += 5) {
      CAPTURE(at);
      folder.write(std::filesystem::path(file).filename(), whole.substr(0, at));
      CHECK_FALSE(is_right_or_refused(file, expected));
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 8);
      folder.write(std::filesystem::path(file).filename(), flipped);
      static_cast<void>(is_right_or_refused(file, expected));
    }
  }
}

TEST_CASE("a compressed archive that changes while it is in use is an error of its samples") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.tar.gz");
  write_gz(path, packed_members(0, 5) + tar_end());
  const auto source = opened_packed(path);
  write_gz(path, packed_members(0, 6) + tar_end());
  CHECK(has(error_of([&] { static_cast<void>(read_sample(*source, 0)); }),
            "3: " + path + ": unpacks to another size"));
  write_gz(path, packed_members(0, 5) + tar_end());
  CHECK(read_sample(*source, 3).field("label").as_integer() == 3);
}

TEST_CASE("archives that unpack to far more than they have are refused before it takes memory") {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20U;
  const TemporaryFolder folder;
  const auto check_cheap = [&](const std::string& path) {
    const std::uint64_t before = allocated_bytes;
    CHECK(has(packed_error(path, 1e6), "unpacks to more than 200 times its bytes"));
    CHECK(allocated_bytes - before < kMost);
  };
  const std::string begin = TarBlockText{.name = "a.jpg", .size = octal(1U << 30U, 11)}.text();
  write_gz(folder.path("begin"), begin);
  write_gz(folder.path("zeros"), std::string(1 << 20, '\0'));
  std::string bomb = read_file(folder.path("begin"));
  for (int i = 0; i < 1024; ++i) bomb += read_file(folder.path("zeros"));
  check_cheap(folder.write("a.tar.gz", bomb));
  if (has_zstd()) {
    const std::string zeros = zstd_frame(std::string(1 << 20, '\0'));
    bomb = zstd_frame(begin);
    for (int i = 0; i < 1024; ++i) bomb += zeros;
    check_cheap(folder.write("a.tar.zst", bomb));
    // A frame that claims a window of 2 GiB.
    const std::string window("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
    const std::uint64_t before = allocated_bytes;
    CHECK(has(packed_error(folder.write("b.tar.zst", window), 1e6), "a window above 32 MiB"));
    CHECK(allocated_bytes - before < kMost);
  }
}

TEST_CASE("compressed archives of a server are refused, with what to do once") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_gz(folder.path("a.tar.gz"), packed_members(0, 5) + tar_end());
  const FolderServer server(folder.path());
  CHECK(has(packed_error(server.url("/a.tar.gz")), "is compressed with gzip"));
  CHECK(has(packed_error(server.url("/a.tar.gz")), "unpack it once"));
}
