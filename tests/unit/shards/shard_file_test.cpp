// A shard: what is read is what was written, or an error that names the file.
#include "cachebisect/shards/shard_file.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using namespace cachebisect::shards;

namespace {

constexpr std::uint64_t kRecords = 40;

std::vector<std::byte> shard_record(std::uint64_t number) {
  RandomStream random({.seed = 9, .index = number});
  std::vector<std::byte> bytes(number * 7 % 300);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

void write_shard(const std::string& path, std::uint64_t records = kRecords) {
  ShardWriter writer(path);
  for (std::uint64_t i = 0; i < records; ++i) {
    const auto record = shard_record(i);
    writer.append(record, record.size());
  }
  CHECK(writer.records() == records);
  static_cast<void>(writer.close({.set = 7, .first_sample = 100, .end_sample = 100 + records}));
}

std::vector<std::byte> read_record(const ShardFile& shard, std::uint64_t number) {
  std::vector<std::byte> bytes(shard.entry(number).stored_bytes);
  shard.read(number, bytes);
  return bytes;
}

/// Reads all that the file gives. Each record is right, or an error names the file.
void check_never_wrong(const std::string& path) {
  try {
    const ShardFile shard(path);
    for (std::uint64_t i = 0; i < shard.records(); ++i) {
      try {
        const auto record = read_record(shard, i);
        CHECK(record == shard_record(i));
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::data);
        CHECK(has(error.what(), path));
      }
    }
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    CHECK(has(error.what(), path));
  }
}

}  // namespace

TEST_CASE("records are read in any order") {
  const TemporaryFolder folder;
  const std::string path = folder.path("shard");
  write_shard(path);
  const ShardFile shard(path);
  REQUIRE(shard.records() == kRecords);
  for (std::uint64_t i = kRecords; i-- > 0;) CHECK(read_record(shard, i) == shard_record(i));
  CHECK(shard.file().size() == std::filesystem::file_size(path));
  CHECK(shard.origin() == ShardOrigin{.set = 7, .first_sample = 100, .end_sample = 140});
}

TEST_CASE("a shard has its name once it is whole, and what is not closed is removed") {
  const TemporaryFolder folder;
  const std::string path = folder.path("shard");
  {
    ShardWriter writer(path);
    writer.append(shard_record(3), 21);
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(entries_in(folder.path()) == 1);
  }
  CHECK(entries_in(folder.path()) == 0);
  write_shard(path, 0);
  CHECK(entries_in(folder.path()) == 1);
  CHECK(ShardFile(path).records() == 0);
}

TEST_CASE("a file that was cut, or has a flipped byte, never gives a wrong record") {
  const TemporaryFolder folder;
  const std::string path = folder.path("shard");
  write_shard(path);
  const std::string whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    check_never_wrong(folder.write("cut", whole.substr(0, size)));
  }
  check_never_wrong(folder.write("longer", whole + "more"));
  for (std::size_t at = 0; at < whole.size(); at += at + 120 < whole.size() ? 53 : 1) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    check_never_wrong(folder.write("flipped", damaged));
  }
}

TEST_CASE("an index that claims more than the file holds takes no memory") {
  const TemporaryFolder folder;
  write_shard(folder.path("shard"));
  const std::string whole = read_file(folder.path("shard"));
  const std::size_t footer = whole.size() - 56;
  for (const std::uint64_t claimed :
       {std::uint64_t{1} << 60U, std::uint64_t{1} << 32U, std::uint64_t{41}, ~std::uint64_t{0}}) {
    for (const std::size_t at : {footer, footer + 8}) {
      std::string damaged = whole;
      std::memcpy(damaged.data() + at, &claimed, sizeof claimed);
      const std::string path = folder.write("claims", damaged);
      CHECK(has(error_message([&] { const ShardFile shard(path); }, ErrorKind::data), path));
    }
  }
}

TEST_CASE("what is no shard says so") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& path) {
    return error_message([&] { const ShardFile shard(path); }, ErrorKind::data);
  };
  CHECK(has(refused(folder.path("none")), "cannot be opened"));
  CHECK(has(refused(folder.path()), "is a folder"));
  CHECK(has(refused(folder.write("empty", std::string())), "too short"));
  CHECK(has(refused(folder.write("text", std::string(5000, 'x'))), "no whole shard"));
}

TEST_CASE("a record that no reader would take is not written") {
  const TemporaryFolder folder;
  ShardWriter writer(folder.path("shard"));
  const auto refused = [&](std::size_t bytes) {
    return error_message([&] { writer.append({}, bytes); }, ErrorKind::data);
  };
  CHECK(refused(kMostRecordBytes).empty());
  CHECK(has(refused(kMostRecordBytes + 1), "too large for a shard"));
}
