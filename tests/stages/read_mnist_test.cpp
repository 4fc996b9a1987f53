#include <set>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/idx_files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/stat.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::unique_ptr<SourceStage> mnist(const std::string& path,
                                   const std::vector<NamedValue>& values = {}) {
  return make_source("read.mnist", path, values);
}

std::string mnist_error(const std::string& path) {
  return error_of([&] { mnist(path)->open(); });
}

/// The error of opening a folder with these two files.
std::string error_with(const Bytes& images, const Bytes& labels) {
  const TemporaryFolder folder;
  folder.write(kImages, images);
  folder.write(kLabels, labels);
  return mnist_error(folder.path());
}

}  // namespace

TEST_CASE("plain and gzip files give the same samples") {
  const TemporaryFolder plain;
  plain.write(kImages, image_file(13));
  plain.write(kLabels, label_file(13));
  const TemporaryFolder zipped;
  write_gzip(zipped.path(kImages + ".gz"), image_file(13));
  write_gzip(zipped.path(kLabels + ".gz"), label_file(13));

  const auto a = mnist(plain.path());
  const auto b = mnist(zipped.path());
  a->open();
  b->open();
  REQUIRE(a->size() == 13);
  REQUIRE(b->size() == 13);
  CHECK_FALSE(a->generated());
  const Bytes file = image_file(13);
  for (std::uint64_t i : {0U, 5U, 12U}) {
    const auto sample = read_sample(*a, i);
    const auto pixels = sample.field("image").as<std::uint8_t>();
    CHECK(Bytes(pixels.begin(), pixels.end()) ==
          Bytes(file.begin() + static_cast<std::ptrdiff_t>(16 + i * kPixels),
                file.begin() + static_cast<std::ptrdiff_t>(16 + (i + 1) * kPixels)));
    CHECK(sample.field("label").as_integer() == static_cast<std::int64_t>(i % 10));
    CHECK(sample.origin().to_string() == plain.path(kImages));
    const auto other_sample = read_sample(*b, i);
    const auto other = other_sample.field("image").as<std::uint8_t>();
    CHECK(std::equal(pixels.begin(), pixels.end(), other.begin(), other.end()));
  }
  REQUIRE(a->files({5}).size() == 1);
  CHECK(a->files({5})[0].offset == 16 + 5 * kPixels);
  CHECK(a->files({5})[0].bytes == kPixels);
  CHECK(b->files({5}).empty());
}

TEST_CASE("the test split and torchvision's folders are found") {
  const TemporaryFolder folder;
  folder.write("MNIST/raw/t10k-images-idx3-ubyte", image_file(3));
  folder.write("MNIST/raw/t10k-labels-idx1-ubyte", label_file(3));
  const auto source = mnist(folder.path(), {{"split", std::string("test")}});
  source->open();
  CHECK(source->size() == 3);
  CHECK(has(mnist_error(folder.path()), "has neither train-images-idx3-ubyte nor"));
}

TEST_CASE("errors say what is wrong with which file") {
  const TemporaryFolder empty;
  CHECK(has(mnist_error(empty.path("absent")), "3: " + empty.path("absent") + ": No such file"));
  CHECK(has(mnist_error(empty.path("absent")), "\"if_missing\": \"generate\""));
  CHECK(has(mnist_error(empty.path()), "has neither"));
  CHECK(has(mnist_error(""), "\"path\" is empty"));
  CHECK(has(mnist_error(empty.write("file", {1})), "is not a folder"));

  CHECK(has(error_with(image_file(3), label_file(4)), "has 3 images"));
  CHECK(has(error_with(image_file(3, 28, 0x802), label_file(3)), "magic number 0x00000802"));
  CHECK(has(error_with(image_file(3, 28, 0x02080000), label_file(3)), "begins with 0x00000803"));
  CHECK(has(error_with(image_file(3, 14), label_file(3)), "14x14"));
  CHECK(has(error_with(image_file(0), label_file(0)), "has no items"));
  CHECK(has(error_with({0, 0, 8}, label_file(3)), "too few for the header"));
  CHECK(has(error_with({}, label_file(3)), "too few for the header"));
  CHECK(has(error_with(image_file(3), label_file(3, 10)), "label 0 is 10"));

  Bytes cut = image_file(3);
  cut.pop_back();
  CHECK(has(error_with(cut, label_file(3)), "truncated or damaged"));
  Bytes longer = image_file(3);
  longer.push_back(0);
  CHECK(has(error_with(longer, label_file(3)), "truncated or damaged"));
  Bytes overflowing;
  for (const std::uint32_t number : {0x803U, 0xFFFFFFFFU, 0xFFFFFFFFU, 0xFFFFFFFFU})
    put_number(overflowing, number);
  CHECK(has(error_with(overflowing, label_file(3)), "more than an IDX file may have"));
}

TEST_CASE("a FIFO or a folder in place of a file is an error, not a hang") {
  const TemporaryFolder folder;
  folder.write(kLabels, label_file(3));
  REQUIRE(::mkfifo(folder.path(kImages).c_str(), 0600) == 0);
  CHECK(has(mnist_error(folder.path()), "is a FIFO, not a file"));
  std::filesystem::remove(folder.path(kImages));
  std::filesystem::create_directory(folder.path(kImages));
  CHECK(has(mnist_error(folder.path()), "is a folder, not a file"));
}

TEST_CASE("a file that is truncated while in use gives an error") {
  const TemporaryFolder folder;
  folder.write(kImages, image_file(3));
  folder.write(kLabels, label_file(3));
  const auto source = mnist(folder.path());
  source->open();
  std::filesystem::resize_file(folder.path(kImages), 1000);
  CHECK_NOTHROW(read_sample(*source, 0));
  CHECK(has(error_of([&] { read_sample(*source, 2); }), "cut short"));
}

TEST_CASE("a missing set is generated once, with the same files on every run") {
  const TemporaryFolder folder;
  const auto make = [&](const std::string& name) {
    auto source = mnist(folder.path(name), {{"if_missing", std::string("generate")},
                                            {"generated_samples", std::int64_t{600}}});
    source->open();
    return source;
  };
  const auto source = make("a/deep/set");
  CHECK(source->size() == 600);
  CHECK(source->generated());
  CHECK(entries_in(folder.path("a/deep")) == 1);  // nothing else is left
  CHECK(read_bytes(folder.path("a/deep/set/" + kImages)).size() == 16 + 600 * kPixels);

  make("b");
  for (const std::string& name : {kImages, kLabels}) {
    CHECK(read_bytes(folder.path("a/deep/set/" + name)) == read_bytes(folder.path("b/" + name)));
  }
  const auto again = mnist(folder.path("b"));  // without if_missing: still known as generated
  again->open();
  CHECK(again->generated());

  std::set<std::int64_t> labels;
  for (std::uint64_t i = 0; i < 600; ++i)
    labels.insert(read_sample(*source, i).field("label").as_integer());
  CHECK(labels.size() == 10);
}

TEST_CASE("generation never touches a folder with other content") {
  const TemporaryFolder folder;
  folder.write("mine.txt", {1, 2, 3});
  const auto error = error_of([&] {
    mnist(folder.path(), {{"if_missing", std::string("generate")}})->open();
  });
  CHECK(has(error, "has neither"));
  CHECK(entries_in(folder.path()) == 1);
}

TEST_CASE("generation that cannot write says so and leaves nothing behind") {
  const TemporaryFolder folder;
  folder.write("file", {1});
  const auto error = error_of([&] {
    mnist(folder.path("file/set"), {{"if_missing", std::string("generate")}})->open();
  });
  CHECK(has(error, "3: the mnist-like data set"));
  CHECK(has(error, "cannot be generated in " + folder.path("file/set")));
  const auto full = error_of([&] {
    mnist("/proc/cachebisect/set", {{"if_missing", std::string("generate")}})->open();
  });
  CHECK(has(full, "cannot be generated in /proc/cachebisect/set"));
}
