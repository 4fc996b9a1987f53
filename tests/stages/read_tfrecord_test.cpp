// read.tfrecord: files that others wrote, features where common scripts put them, damaged files.
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "stages/datasets/tf_example.hpp"
#include "support/allocation_counter.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include "support/tfrecords.hpp"
#include <doctest/doctest.h>
#include <sys/resource.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

using Named = std::vector<NamedValue>;
const std::string kTfFixtures = CACHEBISECT_SOURCE_DIR "/tests/fixtures/tfrecord";

std::unique_ptr<SourceStage> opened_tfrecord(const std::string& path, const Named& values = {}) {
  auto source = make_source("read.tfrecord", path, values);
  source->open();
  return source;
}

std::string tf_image(const Sample& sample) {
  const auto image = sample.field("image").as<std::uint8_t>();
  return {image.begin(), image.end()};
}

/// The error of a file with this content, or of its first record.
std::string tfrecord_error(const std::string& content, const Named& values = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tfrecord", content);
  const std::string error =
      error_of([&] { static_cast<void>(read_sample(*opened_tfrecord(path, values), 0)); });
  const std::string start = "3: " + path + ": ";
  return error.starts_with(start) ? error.substr(start.size()) : error;
}

std::string numbered_record(int number) {
  return tf_record(
      tf_image_example(std::string(static_cast<std::size_t>(number) * 37 % 500 + 1, 'x'), number));
}

}  // namespace

TEST_CASE("records are those that others wrote") {
  std::istringstream lines(read_file(kTfFixtures + "/samples.txt"));
  std::vector<std::string> expected;
  for (std::string line; std::getline(lines, line);) expected.push_back(line);
  const auto source = opened_tfrecord(kTfFixtures);
  std::vector<std::string> found;
  for (std::uint64_t i = 0; i < source->size(); ++i) {
    const Sample sample = read_sample(*source, i);
    const std::string image = tf_image(sample);
    found.push_back(std::filesystem::path(sample.origin().to_string()).filename().string() + "|" +
                    std::to_string(image.size()) + "|" + image.back() + "|" +
                    std::to_string(sample.field("label").as_integer()));
  }
  CHECK(expected.size() == 9);
  CHECK(found == expected);
  const auto text = opened_tfrecord(kTfFixtures + "/package-00000-of-00001",
                                    {{"image", "image/class/text"}, {"label", "image/height"}});
  CHECK(tf_image(read_sample(*text, 4)) == "class 4");
  CHECK(read_sample(*text, 4).field("label").as_integer() == 4);
  const auto none = opened_tfrecord(kTfFixtures, {{"label", ""}});
  CHECK(read_sample(*none, 1).find("label") == nullptr);
}

TEST_CASE("a folder, a pattern and one file are sets of files, in order") {
  const TemporaryFolder folder;
  for (const int part : {0, 9, 10}) {
    const std::string number = std::to_string(part);
    folder.write("t-" + std::string(5 - number.size(), '0') + number + "-of-00011",
                 numbered_record(part));
  }
  folder.write("notes-of-it.txt", std::string("x"));
  folder.write(".hidden.tfrecord", std::string("x"));
  const auto labels = [&](const std::string& path) {
    const auto source = opened_tfrecord(path);
    std::string text;
    for (std::uint64_t i = 0; i < source->size(); ++i)
      text += std::to_string(read_sample(*source, i).field("label").as_integer()) + " ";
    return text;
  };
  CHECK(labels(folder.path()) == "0 9 10 ");
  CHECK(labels(folder.path("t-{00009..00010}-of-00011")) == "9 10 ");
  CHECK(labels(folder.path("t-00009-of-00011")) == "9 ");
  const TemporaryFolder empty;
  CHECK(has(error_of([&] { opened_tfrecord(empty.path()); }), "has no TFRecord files"));
  CHECK(has(error_of([&] { opened_tfrecord(empty.path("none")); }), "give a TFRecord file"));
}

TEST_CASE("more files than may be open are opened for each record") {
  const TemporaryFolder folder;
  for (int i = 0; i < 40; ++i)
    folder.write("s-" + std::to_string(i) + ".tfrecord", numbered_record(i));
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlimit low{.rlim_cur = 100, .rlim_max = usual.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  const auto source = opened_tfrecord(folder.path());
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  for (std::uint64_t i = 0; i < 40; ++i)
    CHECK(read_sample(*source, i).field("label").as_integer() == static_cast<std::int64_t>(i));
}

TEST_CASE("features that are not there, or are something else, are refused by name") {
  const std::string plain = numbered_record(1);
  CHECK(has(tfrecord_error(plain, {{"image", "jpeg"}}),
            "record 0 (at byte 12) has no feature \"jpeg\", but \"image/encoded\", "
            "\"image/class/label\"; name the right one in \"image\""));
  CHECK(has(tfrecord_error(plain, {{"label", "cls"}}), "name the right one in \"label\""));
  CHECK(has(tfrecord_error(plain, {{"image", "image/class/label"}}),
            "has 1 whole numbers under \"image/class/label\", where one of bytes is needed"));
  CHECK(has(tfrecord_error(plain, {{"label", "image/encoded"}}), "where one of whole numbers is"));
  CHECK(has(tfrecord_error(tf_record(tf_image_example("", 1))), "has an image without bytes"));
  const std::string two = tf_example({tf_entry("image/encoded", tf_bytes({"a", "b"})),
                                      tf_entry("image/class/label", tf_integers({1}))});
  CHECK(has(tfrecord_error(tf_record(two)), "has 2 bytes under"));
  CHECK(has(tfrecord_error(tf_record("")), "but none at all"));
  CHECK(has(tfrecord_error(tf_record("\xff\xff")), "is no tf.train.Example"));
  CHECK(has(error_of([] { make_source("read.tfrecord", "a", {{"image", ""}}); }), "2: \"image\""));
}

TEST_CASE("what is no whole TFRecord file is refused with the place") {
  const std::string whole = numbered_record(1) + numbered_record(2);
  CHECK(tfrecord_error(whole).empty());
  CHECK(has(tfrecord_error(""), "is empty"));
  CHECK(has(tfrecord_error(std::string(100, 'x')), "is no TFRecord file"));
  CHECK(has(tfrecord_error("\x1f\x8b" + std::string(100, 'x')), "is compressed with gzip"));
  const std::size_t second = numbered_record(1).size();
  for (std::size_t bytes = 1; bytes < whole.size(); bytes += 3) {
    if (bytes == second) continue;
    CHECK(has(tfrecord_error(whole.substr(0, bytes)), "cut short"));
  }
  const std::string huge = tf_head(std::uint64_t{1} << 60U);
  const std::uint64_t before = allocated_bytes;
  CHECK(has(tfrecord_error(huge + std::string(100, 'x')), "more than one may have (1 GiB)"));
  CHECK(has(tfrecord_error(tf_head(1U << 29U) + std::string(100, 'x')), "cut short"));
  CHECK(allocated_bytes - before < (std::uint64_t{64} << 20U));
}

TEST_CASE("a flipped byte never gives a wrong sample") {
  std::string whole;
  for (int i = 0; i < 4; ++i) whole += numbered_record(i);
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tfrecord", whole);
  const auto source = opened_tfrecord(path);
  std::vector<std::string> expected;
  for (std::uint64_t i = 0; i < 4; ++i) expected.push_back(tf_image(read_sample(*source, i)));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    folder.write("a.tfrecord", flipped);
    int refused = 0;
    const std::string error = error_of([&] {
      const auto damaged = opened_tfrecord(path);
      REQUIRE(damaged->size() == 4);
      for (std::uint64_t i = 0; i < 4; ++i) {
        const std::string one = error_of([&] {
          const std::string image = tf_image(read_sample(*damaged, i));
          CHECK(image == expected[i]);
        });
        if (!one.empty()) CHECK(has(one, "3: " + path + ": record "));
        refused += one.empty() ? 0 : 1;
      }
    });
    if (!error.empty()) CHECK(has(error, "3: " + path + ": "));
    CHECK((refused == 1 || !error.empty()));
  }
}

TEST_CASE("reading records allocates nothing in the steady state") {
  const TemporaryFolder folder;
  std::string whole;
  for (int i = 0; i < 50; ++i) whole += numbered_record(i);
  const auto source = opened_tfrecord(folder.write("a.tfrecord", whole));
  Arena arena;
  Sample sample;
  const auto epoch = [&] {
    for (std::uint64_t i = 0; i < 50; ++i) {
      arena.reset();
      sample.set_index({i});
      source->read(sample, SampleContext({.index = i}, arena));
    }
  };
  epoch();
  epoch();
  const std::uint64_t before = allocated_bytes;
  epoch();
  CHECK(allocated_bytes == before);
}
