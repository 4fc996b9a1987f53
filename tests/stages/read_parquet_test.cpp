// read.parquet: columns that pyarrow wrote, row groups, labels, files, threads.
#include <atomic>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "stages/conformance.hpp"
#include "stages/parquet_files.hpp"
#include "support/files.hpp"

#include "cachebisect/pipeline/run_reader.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::int64_t photo_label(std::uint64_t row) { return static_cast<std::int64_t>(row * 7 % 5) - 1; }

}  // namespace

TEST_CASE("images of all row groups come with their labels") {
  if (!built_with_parquet()) return;
  for (const std::string column : {"image", "image.bytes"}) {
    const auto source = open_table(kPhotoTable, {{"image", column}});
    REQUIRE(source->size() == kPhotoRows);
    CHECK(source->infer()[0].dtype == DType::uint8);
    CHECK(source->infer()[0].shape == Shape{kDynamic});
    CHECK(source->infer().at(1).dtype == DType::int64);
    for (const std::uint64_t row : {9, 0, 5, 3, 4, 8, 1, 2, 6, 7}) {
      const Sample sample = read_sample(*source, row);
      CHECK(bytes_text(sample) == photo_text(row));
      CHECK(sample.field("label").as_integer() == photo_label(row));
      CHECK(sample.origin().to_string() == kPhotoTable);
    }
    CHECK(has(error_of([&] { read_sample(*source, kPhotoRows); }), "1: sample 10 of 10"));
  }
  const auto unlabelled = open_table(kPhotoTable, {{"label", std::string()}});
  CHECK(unlabelled->infer().size() == 1);
  CHECK(read_sample(*unlabelled, 0).find("label") == nullptr);
}

TEST_CASE("numbers have the values that pyarrow wrote, alone and in lists") {
  if (!built_with_parquet()) return;
  std::istringstream lines(read_file(kParquetFolder + "expected.txt"));
  std::string name;
  std::string type;
  std::int64_t length = 0;
  std::string hex;
  std::size_t columns = 0;
  for (; lines >> name >> type >> length >> hex; ++columns) {
    CAPTURE(name);
    const auto source = open_column(name);
    REQUIRE(source->size() == 6);
    CHECK(to_string(source->infer()[0].dtype) == type);
    CHECK(source->infer()[0].shape == (length == 0 ? Shape{} : Shape{length}));
    std::vector<std::byte> expected;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      expected.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    std::vector<std::byte> all;
    for (std::uint64_t row = 0; row < 6; ++row) {
      const std::vector<std::byte> value =
          test::bytes_of(read_sample(*source, row).field("image").view());
      all.insert(all.end(), value.begin(), value.end());
    }
    CHECK(all == expected);
  }
  CHECK(columns == 24);
}

TEST_CASE("labels are whole numbers of any width") {
  if (!built_with_parquet()) return;
  using Labels = std::vector<std::int64_t>;
  const Labels with_sign{-39, -2, 35, -29, 8, 45};
  const Labels without{11, 48, 85, 21, 58, 95};
  const auto check = [](const std::string& column, const Labels& expected) {
    CAPTURE(column);
    const std::string file = kParquetFolder + "numbers.parquet";
    const auto source = open_table(file, {{"image", std::string("digest")}, {"label", column}});
    for (std::uint64_t row = 0; row < expected.size(); ++row)
      CHECK(read_sample(*source, row).field("label").as_integer() == expected[row]);
  };
  for (const char* column : {"i1", "i2", "i4", "i8"}) check(column, with_sign);
  for (const char* column : {"u1", "u2", "u4"}) check(column, without);
  check("flag", {0, 1, 0, 1, 0, 0});
}

TEST_CASE("row groups are read as a whole, once in their order, and shuffled as runs") {
  if (!built_with_parquet()) return;
  const auto source = open_table(kPhotoTable);
  CHECK(source->read_runs().samples == 4);
  CHECK(source->read_runs().mixed >= 1);
  std::vector<std::uint64_t> bytes;
  auto* const runs = dynamic_cast<RunReader*>(source.get());
  REQUIRE(runs != nullptr);
  CHECK(runs->listen([&](std::uint64_t read) { bytes.push_back(read); }));
  for (std::uint64_t row = 0; row < kPhotoRows; ++row) read_sample(*source, row);
  REQUIRE(bytes.size() == 3);
  // A row's places are its share of both columns of the group.
  std::uint64_t first_group = 0;
  for (std::uint64_t row = 0; row < 4; ++row) {
    const std::vector<FileRange> places = source->files({row});
    REQUIRE(places.size() == 2);
    first_group += places[0].bytes + places[1].bytes;
  }
  CHECK(first_group == bytes[0]);
}

TEST_CASE("the files of a folder or a pattern follow each other") {
  if (!built_with_parquet()) return;
  const TemporaryFolder folder;
  const std::string whole = read_file(kPhotoTable);
  for (const std::string name : {"part-2.parquet", "part-10.parquet", ".hidden.parquet", "x.txt"})
    folder.write(name, whole);
  const std::string pattern = folder.path("part-{2,10}.parquet");
  for (const std::string& path : {folder.path(), pattern}) {
    const auto source = open_table(path);
    REQUIRE(source->size() == 20);
    CHECK(read_sample(*source, 9).origin().to_string() == folder.path("part-2.parquet"));
    CHECK(read_sample(*source, 10).origin().to_string() == folder.path("part-10.parquet"));
    CHECK(bytes_text(read_sample(*source, 13)) == photo_text(3));
  }
  folder.write("part-3.parquet", read_file(kParquetFolder + "other.parquet"));
  CHECK(error_of([&] { open_table(folder.path()); }) ==
        "3: " + folder.path("part-3.parquet") + ": has float64 [] where " +
            folder.path("part-2.parquet") + " has uint8 [?]");
}

TEST_CASE("threads read at once what one thread reads") {
  if (!built_with_parquet()) return;
  const auto source = open_table(kPhotoTable);
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t n = 0; n < 500; ++n) {
        const std::uint64_t row = (n * 7 + t * 3) % kPhotoRows;
        const Sample sample = read_sample(*source, row);
        if (bytes_text(sample) != photo_text(row)) ++wrong;
        if (sample.field("label").as_integer() != photo_label(row)) ++wrong;
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("a path without Parquet files is refused, whatever this build has") {
  const TemporaryFolder folder;
  const auto refused = [](const std::string& path) { return error_of([&] { open_table(path); }); };
  CHECK(has(refused(folder.path()), "3: " + folder.path() + ": has no Parquet files (*.parquet)"));
  CHECK(has(refused(folder.path("none.parquet")),
            "No such file or directory; give a Parquet file, a folder of them, or a pattern like "
            "train-{00000..00099}-of-00100.parquet"));
  CHECK(has(refused("s3://bucket/a.parquet"), "2: s3://bucket/a.parquet: Parquet files are read"));
}
