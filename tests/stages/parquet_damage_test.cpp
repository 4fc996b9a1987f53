// read.parquet: columns that cannot be read, damaged files, groups that are too large.
#include <cstdint>
#include <string>
#include <vector>

#include "stages/parquet_files.hpp"
#include "support/files.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::string column_error(const std::string& image, const std::string& label = "") {
  return table_error(kParquetFolder + "numbers.parquet", {{"image", image}, {"label", label}});
}

void damage(std::string& bytes, const FileRange& range) {
  for (std::uint64_t at = 0; at < range.bytes; ++at)
    bytes[range.offset + at] = static_cast<char>(0xE0U | at % 32U);
}

}  // namespace

TEST_CASE("columns that cannot be samples are refused by name and type") {
  if (!built_with_parquet()) return;
  CHECK(has(column_error("none"),
            "3: : there is no column \"none\"; there are \"i1\", \"i1-list\", "));
  CHECK(has(column_error("none"), "; name one of them as \"image\""));
  CHECK(has(column_error("point"),
            "3: : the column \"point\" has the parts \"point.x\", \"point.y\"; name one of them as "
            "\"image\""));
  for (const std::string name : {"u8", "when", "day", "price", "texts"}) {
    CAPTURE(name);
    CHECK(has(column_error(name), "3: : the column \"" + name));
    CHECK(has(column_error(name), "which cannot be read; bytes, numbers and lists of numbers can"));
  }
  CHECK(has(column_error("nested"), "has lists within lists; one list is read"));
  for (const std::string name : {"f4", "f2", "i4-list", "digest"}) {
    CAPTURE(name);
    CHECK(has(column_error("i1", name), "is no label: that is one whole number in each row"));
  }
  CHECK(has(column_error("i1", "none"), "; name one of them as \"label\""));
  CHECK(has(table_error(kPhotoTable, {{"image", std::string()}}), "2: \"image\" is empty"));
}

TEST_CASE("rows without a value, or with another length, are refused by number") {
  if (!built_with_parquet()) return;
  CHECK(column_error("missing") == "3: : row 4 has no value in the column \"missing\"");
  CHECK(column_error("i1", "missing") == "3: : row 4 has no value in the column \"missing\"");
  CHECK(
      has(column_error("ragged"), "3: : row 4 has 1 numbers, where the first row has 2, in the "));
  CHECK(
      has(column_error("long"), "3: : row 5 has more numbers, where the first row has 2, in the "));
  CHECK(
      has(column_error("hole"), "3: : row 3 has an empty list, or one with a missing number in "));
  CHECK(
      has(column_error("empty"), "3: : row 1 has an empty list, or one with a missing number in "));
  CHECK(has(column_error("no-bytes"), "3: : row 1 has a value without bytes in the column "));
  CHECK(has(table_error(kParquetFolder + "none.parquet"), "3: : has no rows"));
}

TEST_CASE("row groups must fit the buffer four times, decoded") {
  if (!built_with_parquet()) return;
  const std::string file = kParquetFolder + "repeated.parquet";  // 500 rows of 10 kB in a few kB
  const auto with_buffer = [&](double megabytes) {
    return table_error(file, {{"label", std::string()}, {"shuffle_buffer_mb", megabytes}});
  };
  const std::string error = with_buffer(16);
  CHECK(has(error, "3: : has a row group of 5"));
  CHECK(has(error, "more than a quarter of shuffle_buffer_mb, where whole groups are read; give "));
  CHECK(with_buffer(32).empty());
}

TEST_CASE("columns that are not needed are not read") {
  if (!built_with_parquet()) return;
  const std::vector<NamedValue> caption{{"image", std::string("caption")},
                                        {"label", std::string()}};
  std::string bytes = read_file(kPhotoTable);
  const auto source = open_table(kPhotoTable, caption);
  for (std::uint64_t row = 0; row < kPhotoRows; ++row) damage(bytes, source->files({row}).front());
  const TemporaryFolder folder;
  const std::string damaged = folder.write("a.parquet", bytes);
  CHECK(table_error(damaged).empty());
  CHECK(has(table_error(damaged, caption), "3: : the rows from 0 on cannot be read: "));
}

TEST_CASE("a damaged group is refused, and the others are read") {
  if (!built_with_parquet()) return;
  std::string bytes = read_file(kPhotoTable);
  const auto whole = open_table(kPhotoTable);
  const FileRange place = whole->files({5}).front();
  bytes[place.offset + place.bytes / 2] ^= '\1';
  const TemporaryFolder folder;
  const auto source = open_table(folder.write("a.parquet", bytes));
  CHECK(has(error_of([&] { read_sample(*source, 4); }),
            "3: " + folder.path("a.parquet") + ": the rows from 4 on cannot be read: "));
  CHECK(bytes_text(read_sample(*source, 3)) == photo_text(3));
  CHECK(bytes_text(read_sample(*source, 9)) == photo_text(9));
}

TEST_CASE("what is no whole Parquet file is refused by name") {
  if (!built_with_parquet()) return;
  const TemporaryFolder folder;
  int files = 0;
  const auto of_bytes = [&](const std::string& bytes) {
    return table_error(folder.write(std::to_string(files++) + ".parquet", bytes));
  };
  CHECK(has(of_bytes(""), "3: : is no whole Parquet file: "));
  CHECK(has(of_bytes(std::string(5000, 'x')), "3: : is no whole Parquet file: "));
  const std::string whole = read_file(kPhotoTable);
  CHECK(of_bytes(whole).empty());
  for (std::size_t size = 0; size < whole.size(); size += 61)
    CHECK(has(of_bytes(whole.substr(0, size)), "3: : is no whole Parquet file: "));
}

TEST_CASE("a file that changes its size after it was opened is refused") {
  if (!built_with_parquet()) return;
  const TemporaryFolder folder;
  const std::string bytes = read_file(kPhotoTable);
  const auto source = open_table(folder.write("a.parquet", bytes));
  folder.write("a.parquet", bytes + "more");
  CHECK(
      has(error_of([&] { read_sample(*source, 0); }), "has another size than when it was opened"));
}

TEST_CASE("flipped bits never crash: samples or an error of the data") {
  if (!built_with_parquet()) return;
  const TemporaryFolder folder;
  const std::string whole = read_file(kPhotoTable);
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ 0xFFU);
    const std::string error = table_error(folder.write(std::to_string(at) + ".parquet", bytes));
    CAPTURE(at);
    CHECK((error.empty() || error.starts_with("3: ")));
  }
}
