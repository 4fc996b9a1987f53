// The members of tar archives: those that tarfile finds, and what is refused of hostile ones.
#include "stages/datasets/tar_reader.hpp"

#include <filesystem>
#include <sstream>
#include <vector>

#include "stages/tar_archive.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/fuzz_cases.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using stages::TarMember;
using stages::TarReader;

namespace {

const std::string kTarFixtures = CACHEBISECT_SOURCE_DIR "/tests/fixtures/tar/";

std::vector<TarMember> members_of(const std::string& path) {
  const auto file = open_file(path);
  TarReader reader(*file);
  std::vector<TarMember> members;
  while (std::optional<TarMember> member = reader.next()) members.push_back(std::move(*member));
  CHECK_FALSE(reader.next());
  return members;
}

/// "NAME OFFSET BYTES; ..." of an archive with these bytes.
std::string listing(const std::string& archive) {
  const TemporaryFolder folder;
  std::string text;
  for (const TarMember& member : members_of(folder.write("a.tar", archive))) {
    text += member.name + " " + std::to_string(member.offset) + " " + std::to_string(member.bytes) +
            "; ";
  }
  return text;
}

/// What is wrong with an archive, without its path.
std::string tar_error(const std::string& archive) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tar", archive);
  const std::string message = error_message([&] { members_of(path); }, ErrorKind::data);
  return message.starts_with(path + ": ") ? message.substr(path.size() + 2) : message;
}

std::string with_size(const std::string& size) {
  return TarBlockText{.name = "000.jpg", .size = size}.text();
}

}  // namespace

TEST_CASE("members of archives by Python's tarfile and WebDataset lie where tarfile finds them") {
  std::istringstream lines(read_file(kTarFixtures + "members.txt"));
  std::vector<std::string> expected;
  for (std::string line; std::getline(lines, line);) expected.push_back(line);
  std::vector<std::string> found;
  for (const std::string archive : {"gnu.tar", "pax.tar", "ustar.tar", "webdataset.tar"}) {
    for (const TarMember& member : members_of(kTarFixtures + archive)) {
      found.push_back(archive + " " + std::to_string(member.offset) + " " +
                      std::to_string(member.bytes) + " " + member.name);
    }
  }
  CHECK(expected.size() > 50);
  CHECK(found == expected);
}

TEST_CASE("every form of a header is read") {
  const std::string data = "12345";
  const auto with = [&](TarBlockText header) {
    header.size = octal(data.size(), 11);
    return listing(header.text() + padded(data) + tar_end());
  };
  CHECK(with({.name = "a.jpg", .prefix = "b/c"}) == "b/c/a.jpg 512 5; ");
  CHECK(with({.name = "a.jpg", .magic = "", .prefix = "no prefix"}) == "a.jpg 512 5; ");
  CHECK(with({.name = "a.jpg", .magic = "ustar  ", .prefix = "0123"}) == "a.jpg 512 5; ");
  CHECK(with({.name = "\xe4\xff.jpg", .signed_checksum = true}) == "\xe4\xff.jpg 512 5; ");
  CHECK(with({.name = std::string(100, 'n')}) == std::string(100, 'n') + " 512 5; ");
  CHECK(with({.name = "a.jpg", .type = '\0'}) == "a.jpg 512 5; ");
  CHECK(with({.name = "a.jpg", .type = '7'}) == "a.jpg 512 5; ");
  CHECK(with({.name = "../../a.jpg"}) == "../../a.jpg 512 5; ");
  CHECK(with({.name = "folder/", .type = '\0'}).empty());
  CHECK(with({.name = "of the volume", .type = 'V'}).empty());
  for (const std::string size : {"5", "       5", "5       ", "0000000005", "00000000005 "}) {
    CHECK(listing(with_size(size) + padded(data) + tar_end()) == "000.jpg 512 5; ");
  }
  CHECK(listing(with_size(base256(5)) + padded(data) + tar_end()) == "000.jpg 512 5; ");
  CHECK(listing(tar_file("a", "") + std::string(kBlock, '\0') + "what is behind the end") ==
        "a 512 0; ");
  CHECK(listing(tar_end()).empty());
}

TEST_CASE("links and folders have no bytes, whatever size they state") {
  std::string archive;
  for (const char type : {'1', '2', '3', '4', '5', '6'})
    archive += TarBlockText{.name = "x.jpg", .size = octal(1000, 11), .type = type}.text();
  CHECK(listing(archive + tar_file("a", "1") + tar_end()) == "a 3584 1; ");
}

TEST_CASE("long names and pax records are about the next member alone") {
  const std::string longer(300, 'l');
  CHECK(listing(tar_file("././@LongLink", longer + '\0', 'L') + tar_file("cut", "1") +
                tar_file("next", "2") + tar_end()) == longer + " 1536 1; next 2560 1; ");
  CHECK(listing(tar_file("././@LongLink", longer + '\0', 'K') +
                TarBlockText{.name = "link", .type = '2'}.text() + tar_file("next", "2") +
                tar_end()) == "next 2048 1; ");
  const std::string records =
      pax_record("mtime", "1.5") + pax_record("path", "p\xc3\xa4x.jpg") + pax_record("size", "700");
  for (const char type : {'x', 'X'}) {
    CHECK(listing(tar_file("PaxHeader", records, type) + TarBlockText{.name = "cut"}.text() +
                  padded(std::string(700, 'd')) + tar_file("next", "2") + tar_end()) ==
          "p\xc3\xa4x.jpg 1536 700; next 3072 1; ");
  }
  CHECK(listing(tar_file("g", pax_record("comment", std::string(5000, 'c')), 'g') +
                tar_file("a", "1") + tar_end()) == "a 6144 1; ");
  // Of a folder, not of the file behind it.
  CHECK(listing(tar_file("PaxHeader", pax_record("path", "folder"), 'x') +
                TarBlockText{.name = "f", .type = '5'}.text() + tar_file("a", "1") + tar_end()) ==
        "a 2048 1; ");
  // Beyond what is read with a header.
  CHECK(listing(
            tar_file("P", pax_record("x", std::string(9000, 'c')) + pax_record("path", "n"), 'x') +
            tar_file("a", "1") + tar_end()) == "n 10240 1; ");
}

TEST_CASE("members above 8 GiB are passed over without being read") {
  constexpr std::uint64_t kLarge = (std::uint64_t{9} << 30U) + 1;
  const TemporaryFolder folder;
  const std::string first = TarBlockText{.name = "large", .size = base256(kLarge)}.text();
  const std::string second = tar_file("a", "1") + tar_end();
  const std::string path = folder.write("a.tar", first);
  const std::uint64_t behind = kBlock + (kLarge + kBlock - 1) / kBlock * kBlock;
  std::filesystem::resize_file(path, behind);
  std::ofstream(path, std::ios::binary | std::ios::app) << second;
  const std::vector<TarMember> members = members_of(path);
  REQUIRE(members.size() == 2);
  CHECK(members[0].bytes == kLarge);
  CHECK(members[1].offset == behind + kBlock);
}

TEST_CASE("a size that the file does not have is refused before anything is allocated") {
  const std::string first = tar_file("a", "1");
  const std::string claims = "\"000.jpg\" is said to have ";
  CHECK(tar_error(first + with_size(base256(std::uint64_t{1} << 60U)) + tar_end()) ==
        "in the header at byte 1024, " + claims +
            "1152921504606846976 bytes, and 1024 are left; the archive is damaged or cut short; "
            "copy or write it again");
  CHECK(has(tar_error(with_size(base256(~std::uint64_t{0})) + tar_end()), claims));
  CHECK(has(tar_error(with_size("777777777777") + tar_end()), claims + "68719476735 bytes"));
  CHECK(has(tar_error(with_size(octal(1025, 11)) + tar_end()), claims + "1025"));
  const std::string pax = tar_file("P", pax_record("size", "18446744073709551615"), 'x');
  CHECK(has(tar_error(pax + with_size(octal(0, 11)) + tar_end()), claims + "18446744073709551615"));
  for (const char type : {'L', 'K', 'x', 'g'}) {
    CHECK(
        has(tar_error(TarBlockText{.name = "n", .size = base256(1ULL << 40U), .type = type}.text()),
            "1099511627776 bytes, and 0 are left"));
  }
  CHECK(has(tar_error(tar_file("n", std::string((1U << 20U) + 1, 'n'), 'L') + tar_end()),
            "a name or a pax header has 1048577 bytes, more than one may have"));
}

TEST_CASE("sizes that are no numbers are refused") {
  std::string negative = base256(5);
  negative[0] = '\xff';
  std::string beyond = base256(5);
  beyond[3] = 1;
  for (const std::string& size :
       {std::string("12x"), std::string("-1"), std::string("8"), negative, beyond}) {
    CAPTURE(size);
    CHECK(tar_error(with_size(size) + tar_end()) ==
          "in the header at byte 0, the size of \"000.jpg\" is not a number");
  }
}

TEST_CASE("archives that are cut short are refused at any length") {
  const std::string whole = tar_file("a", std::string(600, 'a')) + tar_file("b", "b");
  REQUIRE(tar_error(whole + std::string(kBlock, '\0')).empty());
  CHECK(tar_error(whole) ==
        "ends at byte 2560 without the blocks of zeros that close a tar archive: it is cut short; "
        "copy or write it again");
  CHECK(has(tar_error(whole.substr(0, whole.size() - 1)), "ends at byte 2559 without"));
  CHECK(has(tar_error(whole.substr(0, 2048)), "\"b\" is said to have 1 bytes, and 0 are left"));
  CHECK(has(tar_error(whole.substr(0, 2047)), "ends at byte 2047 without"));
  CHECK(has(tar_error(whole.substr(0, 1000)), "\"a\" is said to have 600 bytes, and 488 are left"));
  for (std::size_t length = 0; length < whole.size(); length += 37)
    CHECK_FALSE(tar_error(whole.substr(0, length)).empty());
}

TEST_CASE("damage is told from other kinds of files") {
  const TarBlockText damaged{.name = "b", .add_to_checksum = 1};
  CHECK(tar_error(tar_file("a", "1") + damaged.text() + tar_end()) ==
        "in the header at byte 1024, the check sum is wrong: the archive is damaged; copy or write "
        "it again");
  CHECK(has(tar_error(damaged.text() + tar_end()), "is not a tar archive: the check sum"));
  CHECK(has(tar_error("text"), "is not a tar archive"));
  CHECK(tar_error("") == "is empty, not a tar archive");
  const auto unpack = [](std::string begin) {
    begin.resize(5000, 'x');
    return tar_error(begin);
  };
  CHECK(has(unpack("\x1f\x8b\x08"),
            "is compressed with gzip, so its members cannot be read alone; "
            "unpack it once: gunzip -c /"));
  CHECK(has(unpack("\x28\xb5\x2f\xfd"),
            "Zstandard, so its members cannot be read alone; unpack it "
            "once: zstd -dc "));
  CHECK(has(unpack("BZh9"), "bzip2"));
  CHECK(has(unpack("\xfd\x37zXZ"), "with xz"));
  CHECK(has(unpack("\x04\x22\x4d\x18"), "LZ4"));
  CHECK(has(tar_error("\x1f\x8b"), "gzip"));
  // A tar archive, whatever its first member is called.
  CHECK(tar_error(tar_file("BZh.jpg", "1") + tar_end()).empty());
}

TEST_CASE("damaged extra headers and sparse files are refused") {
  const std::string member = tar_file("a", "1") + tar_end();
  for (const std::string records :
       {"9 a=b\n", "5 a=b\n", "x", "6 a=b", "6 a=b\t", "-6 a=b\n", "99999999999999999999 a=b\n",
        "6 abcd\n", "0 \n", "1 \n", "6", "11 size=1x\n", "9 size=\n"}) {
    CAPTURE(records);
    CHECK(has(tar_error(tar_file("P", records, 'x') + member), "pax header are damaged"));
  }
  const std::string no_name = "the name of a member is no file name";
  CHECK(has(tar_error(tar_file("P", pax_record("path", std::string("a\0b", 3)), 'x') + member),
            no_name));
  CHECK(has(tar_error(tar_file("L", std::string(70'000, 'n'), 'L') + member), no_name));
  CHECK(has(tar_error(tar_file("s", "1", 'S') + member),
            "\"s\" is a sparse file; write the archive again without --sparse"));
  CHECK(has(tar_error(tar_file("P", pax_record("GNU.sparse.major", "1"), 'x') + member),
            "\"a\" is a sparse file"));
  CHECK(has(error_message([] { members_of("/tmp"); }, ErrorKind::data), "is a folder, not a file"));
}

TEST_CASE("random damage ends in an error or in members that lie inside the file") {
  const std::string sound = read_file(kTarFixtures + "pax.tar");
  const TemporaryFolder folder;
  int listed = 0;
  int refused = 0;
  for (std::uint64_t i = 0; i < fuzz_cases(400); ++i) {
    CAPTURE(i);
    RandomStream random({.seed = 4, .index = i});
    std::string archive = sound;
    for (std::uint64_t n = random.below(3) + 1; n > 0; --n) {
      // In headers, with a check sum that is right again half of the time.
      const std::uint64_t block = random.below(archive.size() / kBlock) * kBlock;
      archive[block + random.below(kBlock)] = static_cast<char>(random.below(256));
      if (random.below(2) == 0) {
        std::uint64_t sum = 0;
        for (std::size_t b = 0; b < kBlock; ++b) {
          sum += b >= 148 && b < 156 ? ' ' : static_cast<unsigned char>(archive[block + b]);
        }
        archive.replace(block + 148, 7, octal(sum, 6));
      }
    }
    if (random.below(4) == 0) archive.resize(random.below(archive.size()));
    const std::string path = folder.write("a.tar", archive);
    try {
      for (const TarMember& member : members_of(path))
        CHECK(member.offset + member.bytes <= archive.size());
      ++listed;
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::data);
      ++refused;
    }
  }
  CHECK(listed > 0);
  CHECK(refused > 0);
}
