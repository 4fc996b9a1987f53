#include <algorithm>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/file_descriptor.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::unique_ptr<SourceStage> folder_source(const std::string& path,
                                           const std::vector<NamedValue>& values = {}) {
  return make_source("read.image_folder", path, values);
}

std::string folder_error(const std::string& path) {
  return error_of([&] { folder_source(path)->open(); });
}

std::string read_error(const SourceStage& source, std::uint64_t index) {
  return error_of([&] { read_sample(source, index); });
}

}  // namespace

TEST_CASE("classes are sorted by name, and their files of all depths in natural order") {
  const TemporaryFolder folder;
  folder.write("dog/img10.jpg", {4});
  folder.write("dog/img9.JPEG", {2});
  folder.write("dog/img09.png", {3});
  folder.write("dog/zoo/img1.webp", {5, 5});
  folder.write("dog/notes.txt", {9});
  folder.write("cat/b.bmp", {1});
  folder.write("top.jpg", {9});
  const auto source = folder_source(folder.path());
  source->open();
  REQUIRE(source->size() == 5);
  const std::vector<std::string> paths{"cat/b.bmp", "dog/img9.JPEG", "dog/img09.png",
                                       "dog/img10.jpg", "dog/zoo/img1.webp"};
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto sample = read_sample(*source, i);
    CHECK(sample.origin().to_string() == folder.path(paths[i]));
    CHECK(sample.field("label").as_integer() == (i == 0 ? 0 : 1));
    CHECK(sample.field("image").as<std::uint8_t>()[0] == i + 1);
  }
  CHECK(source->files({4})[0].bytes == FileRange::kToEnd);
  CHECK_FALSE(source->generated());

  const auto only =
      folder_source(folder.path("dog"), {{"extensions", std::vector<std::string>{".WEBP"}}});
  only->open();
  CHECK(only->size() == 1);
  CHECK(has(error_of([&] {
              folder_source(folder.path(), {{"extensions", std::vector<std::string>{"jpg"}}});
            }),
            "2: the extension 'jpg' must begin with a dot"));
}

TEST_CASE("errors say why a folder is not an image folder") {
  const TemporaryFolder folder;
  CHECK(has(folder_error(folder.path("absent")), "No such file"));
  CHECK(has(folder_error(folder.path()), "has no class folders"));
  CHECK(has(folder_error(folder.write("file.jpg", {1})), "Not a directory"));
  CHECK(has(folder_error(folder.path()), "has images but no class folders"));
  std::filesystem::create_directory(folder.path("empty_class"));
  CHECK(has(folder_error(folder.path()), folder.path("empty_class") + ": has no images"));
}

TEST_CASE("loops, broken links, FIFOs and devices are errors, never hangs") {
  const auto with = [](const auto& change) {
    const TemporaryFolder folder;
    folder.write("cat/1.jpg", {1});
    change(folder);
    return folder_error(folder.path());
  };
  CHECK(has(with([](const TemporaryFolder& f) {
              std::filesystem::create_directory_symlink("..", f.path("cat/up"));
            }),
            "cat/up: leads back to a folder above it"));
  CHECK(has(with([](const TemporaryFolder& f) {
              std::filesystem::create_symlink("nowhere", f.path("cat/2.jpg"));
            }),
            "cat/2.jpg: is a broken link"));
  CHECK(has(with([](const TemporaryFolder& f) {
              std::filesystem::create_symlink("self.jpg", f.path("cat/self.jpg"));
            }),
            "cat/self.jpg: cannot be examined"));
  CHECK(has(with([](const TemporaryFolder& f) {
              REQUIRE(::mkfifo(f.path("cat/3.png").c_str(), 0600) == 0);
            }),
            "cat/3.png: is named like an image but is not a regular file"));
  CHECK(has(with([](const TemporaryFolder& f) {
              std::filesystem::create_symlink("/dev/zero", f.path("cat/4.png"));
            }),
            "not a regular file"));
  CHECK(has(with([](const TemporaryFolder& f) {
              std::string deep = "cat";
              for (int i = 0; i < 70; ++i) deep += "/d";
              std::filesystem::create_directories(f.path(deep));
            }),
            "folders deep"));
}

TEST_CASE("hidden files and folders are no samples and no classes") {
  const TemporaryFolder folder;
  folder.write("cat/1.jpg", {1});
  folder.write("cat/._1.jpg", {2});  // as macOS leaves them on other file systems
  folder.write("cat/.DS_Store", {3});
  folder.write("cat/.ipynb_checkpoints/1-checkpoint.jpg", {4});
  folder.write(".Trash/2.jpg", {5});
  std::filesystem::create_symlink("nowhere", folder.path("cat/.broken.jpg"));
  const auto source = folder_source(folder.path());
  source->open();
  REQUIRE(source->size() == 1);
  CHECK(read_sample(*source, 0).origin().to_string() == folder.path("cat/1.jpg"));
  CHECK(read_sample(*source, 0).field("label").as_integer() == 0);
  std::filesystem::rename(folder.path("cat/1.jpg"), folder.path("cat/.1.jpg"));
  CHECK(has(folder_error(folder.path()), "cat: has no images"));
}

TEST_CASE("listing many files reports progress and ends at a stop") {
  const TemporaryFolder folder;
  constexpr int kManyFiles = 10'000;
  std::filesystem::create_directory(folder.path("cat"));
  for (int i = 0; i < kManyFiles; ++i) {
    const FileDescriptor file(
        ::creat(folder.path("cat/" + std::to_string(i) + ".jpg").c_str(), 0600));
    REQUIRE(file.is_open());
  }
  std::vector<std::string> lines;
  folder_source(folder.path())->open_with({.progress = [&](const std::string& line) {
    lines.push_back(line);
  }});
  REQUIRE(lines.size() >= 2);
  CHECK(has(lines[0], "listing " + folder.path() + ": 4,0"));
  std::stop_source stop;
  lines.clear();
  const OpenContext context{.stop = stop.get_token(), .progress = [&](const std::string& line) {
                              lines.push_back(line);
                              stop.request_stop();
                            }};
  CHECK(error_of([&] { folder_source(folder.path())->open_with(context); }) == "130: stopped");
  CHECK(lines.size() == 1);
}

TEST_CASE("links to other folders are followed") {
  const TemporaryFolder elsewhere;
  elsewhere.write("a/1.jpg", {7});
  const TemporaryFolder folder;
  std::filesystem::create_directory_symlink(elsewhere.path("a"), folder.path("cat"));
  const auto source = folder_source(folder.path());
  source->open();
  CHECK(source->size() == 1);
}

TEST_CASE("a file that disappears or becomes unreadable is an error of its sample") {
  const TemporaryFolder folder;
  for (const std::string name : {"1", "2", "3", "4"}) folder.write("cat/" + name + ".jpg", {1, 2});
  const auto source = folder_source(folder.path());
  source->open();
  std::filesystem::remove(folder.path("cat/1.jpg"));
  CHECK(has(read_error(*source, 0), "cat/1.jpg: cannot be opened: No such file"));
  folder.write("cat/2.jpg", {});
  CHECK(has(read_error(*source, 1), "cat/2.jpg: is empty"));
  std::filesystem::remove(folder.path("cat/3.jpg"));
  REQUIRE(::mkfifo(folder.path("cat/3.jpg").c_str(), 0600) == 0);
  CHECK(has(read_error(*source, 2), "is a FIFO"));
  std::filesystem::resize_file(folder.path("cat/4.jpg"), std::uintmax_t{1} << 31);
  CHECK(has(read_error(*source, 3), "more than an image may have"));
  if (::geteuid() != 0) {  // root may read everything
    folder.write("cat/2.jpg", {1});
    std::filesystem::permissions(folder.path("cat/2.jpg"), std::filesystem::perms::none);
    CHECK(has(read_error(*source, 1), "Permission denied"));
  }
}

#ifdef CACHEBISECT_WITH_TURBOJPEG
TEST_CASE("a missing folder is generated with photo-like JPEG files in ten classes") {
  const TemporaryFolder folder;
  const auto source = folder_source(
      folder.path("photos"),
      {{"if_missing", std::string("generate")}, {"generated_samples", std::int64_t{20}}});
  source->open();
  CHECK(source->size() == 20);
  CHECK(source->generated());
  CHECK(entries_in(folder.path()) == 1);
  CHECK(entries_in(folder.path("photos")) == 11);  // ten classes and the marker
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto sample = read_sample(*source, i);
    CHECK(sample.field("label").as_integer() == static_cast<std::int64_t>(i / 2));
    bytes += sample.field("image").byte_size();
  }
  CHECK(bytes / 20 > 50'000);
  CHECK(bytes / 20 < 90'000);
}
#else
TEST_CASE("a build without a JPEG library says that it cannot generate") {
  const TemporaryFolder folder;
  const auto error = error_of([&] {
    folder_source(folder.path("photos"), {{"if_missing", std::string("generate")}})->open();
  });
  CHECK(has(error, "2: this build cannot write JPEG files"));
  CHECK(entries_in(folder.path()) == 0);
}
#endif
