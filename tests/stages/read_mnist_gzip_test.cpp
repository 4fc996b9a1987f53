// MNIST files in gzip: damaged, cut, or larger than they may be.
#include <filesystem>
#include <string>

#include "support/errors.hpp"
#include "support/idx_files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::string gzip_error(const std::string& path) {
  return error_of([&] { make_source("read.mnist", path)->open(); });
}

}  // namespace

TEST_CASE("damaged gzip files are errors") {
  const TemporaryFolder folder;
  write_gzip(folder.path(kImages + ".gz"), image_file(3));
  folder.write(kLabels, label_file(3));
  Bytes bytes = read_bytes(folder.path(kImages + ".gz"));
  Bytes cut(bytes.begin(), bytes.end() - 20);
  folder.write(kImages + ".gz", cut);
  CHECK(has(gzip_error(folder.path()), "truncated"));
  bytes[bytes.size() - 5] ^= 0xFF;  // the check sum
  folder.write(kImages + ".gz", bytes);
  CHECK(has(gzip_error(folder.path()), "not a valid gzip file"));
  folder.write(kImages + ".gz", image_file(3));
  CHECK(has(gzip_error(folder.path()), "not a valid gzip file"));
}

TEST_CASE("a gzip file is not inflated before its counts are compared") {
  // The files are cut after a few kilobytes of content: inflating them would say so.
  const auto cut_gzip = [](const std::string& path, Bytes content) {
    content.resize(content.size() + 4'000'000);
    write_gzip(path, content);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  };
  const TemporaryFolder folder;
  const auto header = [](std::uint32_t count, std::uint32_t side) {
    Bytes bytes = image_file(0, side);
    bytes[6] = static_cast<std::uint8_t>(count >> 8);
    bytes[7] = static_cast<std::uint8_t>(count);
    return bytes;
  };
  folder.write(kLabels, label_file(3));
  cut_gzip(folder.path(kImages + ".gz"), header(5000, 28));
  CHECK(has(gzip_error(folder.path()), "has 5000 images"));
  cut_gzip(folder.path(kImages + ".gz"), header(3, 40));
  CHECK(has(gzip_error(folder.path()), "40x40"));
  cut_gzip(folder.path(kImages + ".gz"), header(3, 28));
  CHECK(has(gzip_error(folder.path()), "inflates to more than its header declares (3 x 28 x 28)"));
  Bytes labels = label_file(0);
  labels[7] = 3;
  std::filesystem::remove(folder.path(kLabels));
  cut_gzip(folder.path(kLabels + ".gz"), labels);
  write_gzip(folder.path(kImages + ".gz"), image_file(3));
  CHECK(has(gzip_error(folder.path()), "inflates to more than its header declares (3)"));
}

TEST_CASE("a gzip file that is too small for what its header declares is not inflated") {
  const TemporaryFolder folder;
  folder.write(kLabels, label_file(3));
  Bytes bytes;
  for (const std::uint32_t number : {0x803U, 0x100000U, 28U, 28U}) put_number(bytes, number);
  write_gzip(folder.path(kImages + ".gz"), bytes);
  CHECK(has(gzip_error(folder.path()), "cannot inflate to more than"));
}
