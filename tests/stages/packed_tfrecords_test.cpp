// read.tfrecord over files that TensorFlow compressed (compression_type="GZIP"): the records of
// what they unpack to, file by file.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/idx_files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include "support/tfrecords.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/run_reader.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::unique_ptr<SourceStage> opened_records(const std::string& path, double buffer_mb = 1) {
  auto source = make_source("read.tfrecord", path, {{"shuffle_buffer_mb", buffer_mb}});
  source->open();
  return source;
}

std::string records_error(const std::string& path, double buffer_mb = 1) {
  return error_of([&] {
    const auto source = opened_records(path, buffer_mb);
    for (std::uint64_t i = 0; i < source->size(); ++i) static_cast<void>(read_sample(*source, i));
  });
}

/// Images that hardly compress, and labels that count.
std::string records_of(int first, int end) {
  std::string text;
  for (int i = first; i < end; ++i) {
    std::string image;
    for (unsigned random = static_cast<unsigned>(i) + 1; image.size() < 2000;) {
      random = random * 1'664'525U + 1'013'904'223U;
      image += static_cast<char>(random >> 24U);
    }
    text += tf_record(tf_image_example(image, i));
  }
  return text;
}

std::string gz_file(const TemporaryFolder& folder, const std::string& name,
                    const std::string& content) {
  write_gzip(folder.path(name), Bytes(content.begin(), content.end()));
  return folder.path(name);
}

std::string shown_record(const SourceStage& source, std::uint64_t index) {
  const Sample sample = read_sample(source, index);
  const auto image = sample.field("image").as<std::uint8_t>();
  return std::string(image.begin(), image.end()) + "|" +
         std::to_string(sample.field("label").as_integer());
}

}  // namespace

TEST_CASE("compressed files have the records of what they unpack to, in any order") {
  const TemporaryFolder folder;
  const TemporaryFolder plain_folder;
  plain_folder.write("a.tfrecord", records_of(0, 20));
  plain_folder.write("b.tfrecord", records_of(20, 50));
  gz_file(folder, "a.tfrecord.gz", records_of(0, 20));
  gz_file(folder, "b.tfrecord.gz", records_of(20, 50));
  const auto plain = opened_records(plain_folder.path());
  const auto packed = opened_records(folder.path());
  REQUIRE(packed->size() == 50);
  for (std::uint64_t n = 0; n < 50; ++n) {
    const std::uint64_t i = n * 17 % 50;
    CHECK(shown_record(*packed, i) == shown_record(*plain, i));
  }
  CHECK(read_sample(*packed, 20).origin().to_string() == folder.path("b.tfrecord.gz"));
  CHECK(plain->read_runs().samples == 1);
  CHECK(packed->read_runs().samples == 30);
}

TEST_CASE("each compressed file is read once in order, and its records share its bytes") {
  const TemporaryFolder folder;
  const std::string first = gz_file(folder, "a.tfrecord.gz", records_of(0, 7));
  gz_file(folder, "b.tfrecord.gz", records_of(7, 15));
  const auto source = opened_records(folder.path());
  auto* const runs = dynamic_cast<RunReader*>(source.get());
  REQUIRE(runs != nullptr);
  std::vector<std::uint64_t> read;
  CHECK(runs->listen([&](std::uint64_t bytes) { read.push_back(bytes); }));
  for (std::uint64_t i = 0; i < 15; ++i) read_sample(*source, i);
  CHECK(read ==
        std::vector<std::uint64_t>{std::filesystem::file_size(first),
                                   std::filesystem::file_size(folder.path("b.tfrecord.gz"))});
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < 7; ++i) {
    const FileRange share = source->files({i}).at(0);
    CHECK(share.offset == end);
    end += share.bytes;
  }
  CHECK(end == std::filesystem::file_size(first));
}

TEST_CASE("a folder is its plain files, or its compressed ones if it has no others") {
  const TemporaryFolder folder;
  gz_file(folder, "a-00000-of-00001.gz", records_of(0, 3));
  CHECK(opened_records(folder.path())->size() == 3);
  folder.write("a-00000-of-00001", records_of(0, 2));
  CHECK(opened_records(folder.path())->size() == 2);
  // By its content, whatever its name.
  gz_file(folder, "a-00000-of-00001", records_of(0, 4));
  CHECK(opened_records(folder.path())->size() == 4);
}

TEST_CASE("plain files next to compressed ones are read as a whole too") {
  const TemporaryFolder folder;
  folder.write("a.tfrecord", records_of(0, 5));
  gz_file(folder, "b.tfrecord", records_of(5, 9));
  const auto source = opened_records(folder.path());
  for (std::uint64_t i = 0; i < 9; ++i)
    CHECK(read_sample(*source, i).field("label").as_integer() == static_cast<std::int64_t>(i));
  CHECK(source->read_runs().samples == 5);
}

TEST_CASE("a plain file whose first length looks like gzip is not unpacked") {
  const TemporaryFolder folder;
  std::string example;
  for (std::size_t image = 35'000; example.size() < 0x8b1f; ++image)
    example = tf_image_example(std::string(image, 'x'), 1);
  REQUIRE(example.size() == 0x8b1f);  // little-endian 1f 8b
  const std::string path = folder.write("a.tfrecord", tf_record(example));
  CHECK(records_error(path, 0).empty());
}

TEST_CASE("compressed files need a buffer that holds four of them") {
  const TemporaryFolder folder;
  const std::string path = gz_file(folder, "a.tfrecord.gz", records_of(0, 100));
  const std::string none = records_error(path, 0);
  CHECK(has(none, "3: " + path + ": is compressed with gzip, so its records cannot be read alone"));
  CHECK(has(none, "give \"shuffle_buffer_mb\""));
  CHECK(has(none, "> NEW.tfrecord"));
  const std::string small = records_error(path, 0.5);
  CHECK(has(small, "unpacks to more than "));
  CHECK(has(small, "> NEW.tfrecord"));
  CHECK(records_error(path, 1).empty());
  folder.write("b.tfrecord", records_of(0, 200));
  CHECK(has(records_error(folder.path("{b.tfrecord,a.tfrecord.gz}"), 1),
            "3: " + folder.path("b.tfrecord") + ": has "));
}

TEST_CASE("damaged compressed files are refused, and never give a wrong record") {
  const TemporaryFolder folder;
  const std::string path = gz_file(folder, "a.tfrecord.gz", records_of(0, 3));
  const std::string whole = read_file(path);
  const auto right = opened_records(path);
  std::vector<std::string> expected;
  for (std::uint64_t i = 0; i < 3; ++i) expected.push_back(shown_record(*right, i));
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    CAPTURE(at);
    folder.write("a.tfrecord.gz", whole.substr(0, at));
    CHECK(has(records_error(path), "3: " + path + ": "));
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    folder.write("a.tfrecord.gz", flipped);
    const std::string error = error_of([&] {
      const auto source = opened_records(path);
      REQUIRE(source->size() == 3);
      for (std::uint64_t i = 0; i < 3; ++i) CHECK(shown_record(*source, i) == expected[i]);
    });
    CHECK((error.empty() || has(error, "3: " + path + ": ")));
  }
}

TEST_CASE("a compressed file that is changed while it is in use is refused") {
  const TemporaryFolder folder;
  const std::string path = gz_file(folder, "a.tfrecord.gz", records_of(0, 5));
  const auto source = opened_records(path);
  gz_file(folder, "a.tfrecord.gz", records_of(0, 6));
  CHECK(
      has(error_of([&] { read_sample(*source, 0); }), "3: " + path + ": unpacks to another size"));
}
