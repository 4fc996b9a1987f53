// Files that claim to be huge are refused before memory is taken for them.
#include <cstdint>
#include <string>

#include "support/allocation_counter.hpp"
#include "support/errors.hpp"
#include "support/idx_files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include "tar_archive.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// The error of opening a source, which takes no more than 64 MiB in all until then.
std::string cheap_error(const std::string& type, const std::string& path) {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20U;
  const std::uint64_t before = allocated_bytes;
  const std::string error = error_of([&] { make_source(type, path)->open(); });
  CHECK(allocated_bytes - before < kMost);
  return error;
}

Bytes idx_of(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  Bytes bytes;
  for (const std::uint32_t number : {0x803U, count, rows, columns}) put_number(bytes, number);
  return bytes;
}

/// A gzip file of `content`, then as many megabytes of zeros: a member of gzip each.
void write_bomb(const std::string& path, const Bytes& content, int megabytes) {
  write_gzip(path, content);
  const Bytes begin = read_bytes(path);
  write_gzip(path, Bytes(1'000'000));
  const Bytes zeros = read_bytes(path);
  std::ofstream file(path, std::ios::binary);
  const auto put = [&file](const Bytes& bytes) {
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  put(begin);
  for (int i = 0; i < megabytes; ++i) put(zeros);
}

}  // namespace

TEST_CASE("dimensions of an IDX file whose product overflows are refused") {
  const TemporaryFolder folder;
  folder.write(kLabels, label_file(3));
  // 2^96, and one that is 0 in 64 bits.
  for (const auto& dims : {idx_of(~0U, ~0U, ~0U), idx_of(1U << 31U, 1U << 31U, 4)}) {
    folder.write(kImages, dims);
    CHECK(has(cheap_error("read.mnist", folder.path()), "more than an IDX file may have"));
  }
}

TEST_CASE("a gzip file that inflates to far more than its header declares is refused") {
  const TemporaryFolder folder;
  folder.write(kLabels, label_file(3));
  write_bomb(folder.path(kImages + ".gz"), image_file(3), 500);
  CHECK(has(cheap_error("read.mnist", folder.path()), "inflates to more than its header declares"));
}

TEST_CASE("a gzip file of kilobytes that honestly declares a gigabyte is refused") {
  const std::uint32_t images = 1'275'510;  // of 784 bytes
  const TemporaryFolder folder;
  folder.write(kLabels, label_file(images));
  write_bomb(folder.path(kImages + ".gz"), idx_of(images, 28, 28), 1000);
  const std::string error = cheap_error("read.mnist", folder.path());
  CHECK(has(error, "over 200 times as many"));
  CHECK(has(error, "unpack it with gunzip"));
}

TEST_CASE("a member of an archive that claims 2^60 bytes is refused") {
  const TemporaryFolder folder;
  const TarBlockText member{.name = "a.jpg", .size = base256(std::uint64_t{1} << 60U)};
  const std::string path = folder.write("set.tar", member.text() + tar_end());
  CHECK(has(cheap_error("read.webdataset", path), "is said to have 1152921504606846976 bytes"));
}
