#include <set>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/stat.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::size_t kCifarPixels = 3072;

/// `count` records; record i has the label i and begins with the pixel `mark` + i.
Bytes records(std::size_t count, std::uint8_t mark, std::size_t label_bytes = 1,
              unsigned classes = 10) {
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (label_bytes == 2) bytes.push_back(static_cast<std::uint8_t>(i % 20));
    bytes.push_back(static_cast<std::uint8_t>(i % classes));
    for (std::size_t p = 0; p < kCifarPixels; ++p)
      bytes.push_back(static_cast<std::uint8_t>(mark + i + p));
  }
  return bytes;
}

std::string open_error(const std::string& path) {
  return error_of([&] { make_source("read.cifar10", path)->open(); });
}

std::uint8_t first_pixel(const SourceStage& source, std::uint64_t index) {
  return read_sample(source, index).field("image").as<std::uint8_t>()[0];
}

}  // namespace

TEST_CASE("the five files are one set, in order") {
  const TemporaryFolder folder;
  for (std::uint8_t i = 1; i <= 5; ++i)
    folder.write("data_batch_" + std::to_string(i) + ".bin",
                 records(i, static_cast<std::uint8_t>(10 * i)));
  folder.write("test_batch.bin", records(2, 99));
  const auto train = make_source("read.cifar10", folder.path());
  train->open();
  REQUIRE(train->size() == 15);
  CHECK(first_pixel(*train, 0) == 10);
  CHECK(first_pixel(*train, 2) == 21);
  CHECK(first_pixel(*train, 14) == 54);
  const auto sample = read_sample(*train, 14);
  CHECK(sample.field("label").as_integer() == 4);
  CHECK(sample.field("image").shape() == Shape{3072});
  CHECK(sample.origin().to_string() == folder.path("data_batch_5.bin"));
  CHECK(train->files({14})[0].offset == 4 * 3073);
  CHECK(train->files({14})[0].bytes == 3073);
  CHECK(has(error_of([&] { read_sample(*train, 15); }), "1: sample 15 of 15"));

  const auto test_split =
      make_source("read.cifar10", folder.path(), {{"split", std::string("test")}});
  test_split->open();
  CHECK(test_split->size() == 2);
  const auto one_file = make_source("read.cifar10", folder.path("data_batch_3.bin"));
  one_file->open();
  CHECK(one_file->size() == 3);
}

TEST_CASE("CIFAR-100 gives fine labels, and is found in the folder of its unpacked archive") {
  const TemporaryFolder folder;
  folder.write("cifar-100-binary/train.bin", records(64, 1, 2, 100));
  const auto source = make_source("read.cifar100", folder.path());
  source->open();
  CHECK(source->size() == 64);
  CHECK(read_sample(*source, 63).field("label").as_integer() == 63);
  CHECK(first_pixel(*source, 63) == 64);
}

TEST_CASE("errors say what is wrong with which file") {
  const TemporaryFolder folder;
  CHECK(has(open_error(folder.path("absent")), "No such file"));
  CHECK(has(open_error(folder.path()), "has no data_batch_1.bin"));
  for (int i = 1; i <= 4; ++i)
    folder.write("data_batch_" + std::to_string(i) + ".bin", records(1, 0));
  CHECK(has(open_error(folder.path()), "has no data_batch_5.bin"));
  CHECK(has(open_error(folder.write("empty.bin", {})), "has 0 bytes"));
  CHECK(has(open_error(folder.write("cut.bin", Bytes(3072))), "truncated"));
  CHECK(has(open_error(folder.write("data.bin", Bytes(3074))), "a multiple of 3073"));
  REQUIRE(::mkfifo(folder.path("fifo.bin").c_str(), 0600) == 0);
  CHECK(has(open_error(folder.path("fifo.bin")), "is a FIFO"));
  CHECK(has(open_error("/dev/null"), "is a device"));

  Bytes wrong_label = records(3, 0);
  wrong_label[2 * 3073] = 10;
  const auto source = make_source("read.cifar10", folder.write("label.bin", wrong_label));
  source->open();
  CHECK_NOTHROW(read_sample(*source, 1));
  CHECK(has(error_of([&] { read_sample(*source, 2); }), "has the label 10"));
}

TEST_CASE("a folder that has the name of a file of the set is no set") {
  const TemporaryFolder folder;
  for (int i = 1; i <= 5; ++i) {
    const std::string name = "data_batch_" + std::to_string(i) + ".bin";
    folder.write("data_batch_1.bin/" + name, records(1, 0));
    if (i > 1) folder.write(name, records(1, 0));
  }
  for (const std::string end : {"", "/"}) {
    CHECK(has(open_error(folder.path("data_batch_1.bin") + end),
              "is a folder, not a file of CIFAR-10"));
  }
  CHECK(has(open_error(folder.path()), "data_batch_1.bin: is a folder, not a file"));
  std::filesystem::rename(folder.path("data_batch_1.bin"), folder.path("set.bin"));
  CHECK(open_error(folder.path("set.bin")).empty());
}

TEST_CASE("a file that is truncated or removed while in use does not crash the reader") {
  const TemporaryFolder folder;
  const auto source = make_source("read.cifar10", folder.write("data.bin", records(4, 0)));
  source->open();
  std::filesystem::resize_file(folder.path("data.bin"), 3073 + 100);
  CHECK_NOTHROW(read_sample(*source, 0));
  CHECK(has(error_of([&] { read_sample(*source, 1); }), "cut short"));
  CHECK(has(error_of([&] { read_sample(*source, 3); }), "cut short"));
  std::filesystem::remove(folder.path("data.bin"));
  CHECK_NOTHROW(read_sample(*source, 0));
}

TEST_CASE("a missing set is generated as real files") {
  for (const std::string type : {"read.cifar10", "read.cifar100"}) {
    CAPTURE(type);
    const TemporaryFolder folder;
    const auto source = make_source(
        type, folder.path("set"),
        {{"if_missing", std::string("generate")}, {"generated_samples", std::int64_t{997}}});
    source->open();
    CHECK(source->size() == 997);
    CHECK(source->generated());
    CHECK(entries_in(folder.path()) == 1);
    std::set<std::int64_t> labels;
    for (std::uint64_t i = 0; i < source->size(); ++i)
      labels.insert(read_sample(*source, i).field("label").as_integer());
    CHECK(labels.size() == (type == "read.cifar10" ? 10 : 100));
    const auto test_split = make_source(type, folder.path("set"), {{"split", std::string("test")}});
    test_split->open();
    CHECK(test_split->size() == 199);
    CHECK(test_split->generated());
  }
}

TEST_CASE("the error of a damaged generated set says how to generate it again") {
  const TemporaryFolder folder;
  const std::vector<NamedValue> generate{{"if_missing", std::string("generate")},
                                         {"generated_samples", std::int64_t{20}}};
  make_source("read.cifar10", folder.path("set"), generate)->open();
  std::filesystem::resize_file(folder.path("set/data_batch_2.bin"), 100);
  const auto error =
      error_of([&] { make_source("read.cifar10", folder.path("set"), generate)->open(); });
  CHECK(has(error, "delete the folder"));
}
