// What a list of many files costs, and that it finds each of them.
#include "stages/datasets/file_list.hpp"

#include <cstring>
#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <malloc.h>

using namespace cachebisect;
using namespace cachebisect::test;
using stages::FileList;

namespace {

constexpr std::uint64_t kFiles = 1'000'000;
constexpr std::uint64_t kPerFolder = 1000;

/// Bytes that the program has taken from the allocator.
double bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

/// Names as ImageNet's, under a long path: "n01000007_123456.JPEG".
std::string file_name(std::uint64_t index) {
  return "n" + std::to_string(1'000'000 + index / kPerFolder) + "_" + std::to_string(index) +
         ".JPEG";
}

std::string folder_name(std::uint64_t index) {
  return "/mnt/storage/a-rather-long-path/to/the/data/sets/of/this/group/imagenet-21k/train/n" +
         std::to_string(1'000'000 + index / kPerFolder);
}

FileList many_files() {
  FileList list;
  for (std::uint64_t i = 0; i < kFiles; ++i) {
    if (i % kPerFolder == 0) {
      list.begin_folder(folder_name(i), static_cast<std::uint32_t>(i / kPerFolder));
    }
    list.add(file_name(i));
  }
  return list;
}

}  // namespace

TEST_CASE("a listing of a million files takes at most 100 bytes per file") {
  constexpr auto files = static_cast<double>(kFiles);
  const double before = bytes_in_use();
  FileList list = many_files();
  CHECK(static_cast<double>(list.bytes()) / files < 60);
  CHECK((bytes_in_use() - before) / files < 60);
  list.shrink_to_fit();
  CHECK(static_cast<double>(list.bytes()) / files < 45);
  CHECK((bytes_in_use() - before) / files < 45);
  CHECK(list.size() == kFiles);
  Arena scratch;
  for (const std::uint64_t i : {std::uint64_t{0}, kPerFolder - 1, kPerFolder, kFiles - 1}) {
    CHECK(list.path(i, scratch) == folder_name(i) + "/" + file_name(i));
    CHECK(list.folder(i) == folder_name(i));
    CHECK(list.name(i) == file_name(i));
    CHECK(list.label(i) == i / kPerFolder);
  }
  CHECK(has(error_of([&] { (void)list.label(kFiles); }), "file 1000000 of 1000000"));
}

TEST_CASE("only the files of the present folder are sorted, and empty folders are skipped") {
  FileList list;
  list.begin_folder("/b", 0);
  for (const char* const name : {"2", "1"}) list.add(name);
  list.begin_folder("/empty", 1);
  list.begin_folder("/a", 2);
  for (const char* const name : {"4", "3", "5"}) list.add(name);
  list.sort_folder([](const char* a, const char* b) { return std::strcmp(a, b) < 0; });
  Arena scratch;
  std::string all;
  for (std::uint64_t i = 0; i < list.size(); ++i) {
    all += std::string(list.path(i, scratch)) + ":" + std::to_string(list.label(i)) + " ";
  }
  CHECK(all == "/b/2:0 /b/1:0 /a/3:2 /a/4:2 /a/5:2 ");
}
