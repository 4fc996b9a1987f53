// read.parquet: files whose metadata and pages claim what they do not have.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "stages/parquet_files.hpp"
#include "stages/parquet_text.hpp"
#include "support/allocation_counter.hpp"
#include "support/files.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::uint64_t kMostAllocated = std::uint64_t{64} << 20U;
constexpr std::int64_t kMostI32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostI64 = std::numeric_limits<std::int64_t>::max();

/// The error of reading a file, for which little is allocated in all.
std::string claim_error(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string file = folder.write("a.parquet", bytes);
  const std::uint64_t before = allocated_bytes;
  const std::string error =
      table_error(file, {{"label", std::string()}, {"shuffle_buffer_mb", 8.0}});
  CHECK(allocated_bytes - before < kMostAllocated);
  return error;
}

bool is_data_error(const std::string& error) {
  return error.starts_with("3: : ") && error.size() > 20;
}

/// A dictionary of the two values, then their numbers.
TableText dictionary_table(const PageText& dictionary, const PageText& numbers) {
  const std::string first = dictionary.dictionary();
  TableText table{.pages = first + numbers.data()};
  table.offset = 4 + static_cast<std::int64_t>(first.size());
  table.dictionary_offset = 4;
  return table;
}

/// Two numbers of a dictionary, of two bits each, in a packed run.
PageText packed_numbers(unsigned first, unsigned second) {
  return {.bytes = std::string("\2\3") + static_cast<char>(first + second * 4) + '\0',
          .encoding = kDictionary};
}

}  // namespace

TEST_CASE("Parquet files that are made by hand are read") {
  if (!built_with_parquet()) return;
  CHECK(claim_error(TableText{}.file()).empty());
  const TemporaryFolder folder;
  for (const std::string& bytes :
       {TableText{}.file(),
        dictionary_table({.bytes = two_values()}, packed_numbers(0, 1)).file()}) {
    const auto source = open_table(folder.write("a.parquet", bytes), {{"label", std::string()}});
    REQUIRE(source->size() == 2);
    CHECK(bytes_text(read_sample(*source, 0)) == "ab");
    CHECK(bytes_text(read_sample(*source, 1)) == "cd");
  }
}

TEST_CASE("lists of the metadata that claim elements which are not there take no memory") {
  if (!built_with_parquet()) return;
  for (const std::uint64_t claimed : {2U, 40U, 999'999U, 2'147'483'647U}) {
    CAPTURE(claimed);
    for (const TableText& table : {TableText{.groups = claimed}, TableText{.columns = claimed},
                                   TableText{.leaves = claimed}, TableText{.notes = claimed}}) {
      CHECK(is_data_error(claim_error(table.file())));
    }
  }
}

TEST_CASE("a name that claims a length which it does not have takes no memory") {
  if (!built_with_parquet()) return;
  const TableText table;
  std::string metadata = table.metadata();
  const std::size_t at = metadata.find("schema");
  REQUIRE(at != std::string::npos);
  metadata.replace(at - 1, 1, "\xFF\xC1\xD7\x2F");  // 99,999,999
  CHECK(is_data_error(claim_error(parquet_file(table.pages, metadata))));
}

TEST_CASE("metadata that claims another length than it has is refused") {
  if (!built_with_parquet()) return;
  const TableText table;
  const std::string metadata = table.metadata();
  const auto size = static_cast<std::uint32_t>(metadata.size());
  for (const std::uint32_t claimed :
       {0U, 1U, size - 1, size + 1, size + 4096, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    CAPTURE(claimed);
    CHECK(has(claim_error(parquet_file(table.pages, metadata, claimed)),
              "3: : is no whole Parquet file: "));
  }
}

TEST_CASE("chunks that lie beyond the end of the file, or have negative sizes, are refused") {
  if (!built_with_parquet()) return;
  const std::string beyond = "3: : its metadata names bytes beyond its end: it is damaged";
  const auto bytes = static_cast<std::int64_t>(TableText{}.file().size());
  for (const std::int64_t number : {bytes + 1, kMostI32, kMostI64}) {
    CAPTURE(number);
    CHECK(claim_error(TableText{.offset = number}.file()) == beyond);
    CHECK(claim_error(TableText{.stored_bytes = number}.file()) == beyond);
    CHECK(claim_error(TableText{.offset = number, .dictionary_offset = number}.file()) == beyond);
  }
  const std::string negative = "3: : its metadata has negative sizes: it is damaged";
  CHECK(claim_error(TableText{.offset = -1}.file()) == negative);
  CHECK(claim_error(TableText{.stored_bytes = -kMostI64}.file()) == negative);
  CHECK(claim_error(TableText{.unpacked_bytes = -1}.file()) == negative);
  CHECK(claim_error(TableText{.rows = -1}.file()) == negative);
  CHECK(is_data_error(claim_error(TableText{.offset = 40}.file())));
  CHECK(is_data_error(claim_error(TableText{.stored_bytes = 5}.file())));
}

TEST_CASE("rows that are not there are missed, and too many refused") {
  if (!built_with_parquet()) return;
  CHECK(claim_error(TableText{.rows = 3}.file()) ==
        "3: : the rows from 0 on are 3, but the column \"image\" has 2: the file is damaged");
  CHECK(claim_error(TableText{.rows = 1}.file()) ==
        "3: : the rows from 0 on are 1, but the column \"image\" has 2: the file is damaged");
  CHECK(has(claim_error(TableText{.rows = kMostI32}.file()), "has a row group of "));
  CHECK(has(claim_error(TableText{.rows = kMostI64}.file()), "claims too many rows"));
  CHECK(has(claim_error(TableText{.unpacked_bytes = kMostI64}.file()), "has a row group of "));
  CHECK(claim_error(TableText{.rows = 0}.file()) == "3: : has no rows");
}

TEST_CASE("pages that claim more than they have are refused, without memory for it") {
  if (!built_with_parquet()) return;
  for (const std::int64_t claimed : {std::int64_t{13}, std::int64_t{1} << 28U, kMostI32}) {
    CAPTURE(claimed);
    const PageText values{.bytes = two_values(), .values = claimed};
    const PageText unpacked{.bytes = two_values(), .unpacked_bytes = claimed};
    const PageText stored{.bytes = two_values(), .stored_bytes = claimed};
    for (const PageText& page : {values, unpacked, stored}) {
      CHECK(is_data_error(claim_error(TableText{.pages = page.data(), .codec = kGzip}.file())));
      const std::string error = claim_error(TableText{.pages = page.data()}.file());
      CHECK((error.empty() || is_data_error(error)));
    }
  }
  const PageText bomb{.bytes = two_values(), .unpacked_bytes = kMostI32};
  CHECK(has(claim_error(TableText{.pages = bomb.data(), .codec = kGzip}.file()),
            "the rows from 0 on cannot be read: "));
  CHECK(
      has(claim_error(TableText{.pages = bomb.data(), .codec = kGzip}.file()), "claim more than"));
  const std::string too_long = little_endian(0x7FFFFFFFU) + "ab" + little_endian(2) + "cd";
  CHECK(is_data_error(claim_error(TableText{.pages = PageText{.bytes = too_long}.data()}.file())));
}

TEST_CASE("numbers that a dictionary does not have, and dictionaries that are none, are refused") {
  if (!built_with_parquet()) return;
  const PageText two{.bytes = two_values()};
  for (const unsigned number : {2U, 3U}) {
    CHECK(is_data_error(claim_error(dictionary_table(two, packed_numbers(0, number)).file())));
    CHECK(is_data_error(claim_error(dictionary_table(two, packed_numbers(number, 0)).file())));
  }
  for (const std::int64_t values : {std::int64_t{-1}, std::int64_t{3}, kMostI32}) {
    CAPTURE(values);
    const PageText wrong{.bytes = two_values(), .values = values};
    CHECK(is_data_error(claim_error(dictionary_table(wrong, packed_numbers(0, 1)).file())));
  }
  // None, one that follows the values, and two.
  CHECK(is_data_error(claim_error(TableText{.pages = packed_numbers(0, 1).data()}.file())));
  const std::string after = packed_numbers(0, 1).data() + two.dictionary();
  CHECK(is_data_error(claim_error(TableText{.pages = after}.file())));
  const std::string twice = two.dictionary() + two.dictionary() + packed_numbers(0, 1).data();
  CHECK(is_data_error(claim_error(TableText{.pages = twice}.file())));
}
