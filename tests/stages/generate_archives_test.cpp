// Tar archives that read.webdataset generates: the photos that read.image_folder generates.
#include <filesystem>
#include <stop_token>
#include <string>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/open_context.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::uint64_t kPhotos = 210;

std::unique_ptr<SourceStage> generating(const std::string& type, const std::string& path) {
  return make_source(type, path,
                     {{"if_missing", std::string("generate")},
                      {"generated_samples", static_cast<std::int64_t>(kPhotos)}});
}

std::string photo_at(const SourceStage& source, std::uint64_t index) {
  const Sample sample = read_sample(source, index);
  const auto bytes = sample.field("image").as<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("generated archives hold the generated photos and their classes") {
  const TemporaryFolder folder;
  const auto archives = generating("read.webdataset", folder.path("archives"));
  const auto photos = generating("read.image_folder", folder.path("photos"));
  archives->open();
  photos->open();
  REQUIRE(archives->size() == kPhotos);
  CHECK(archives->generated());
  CHECK(std::filesystem::exists(folder.path("archives/photos-000001.tar")));
  CHECK_FALSE(std::filesystem::exists(folder.path("archives/photos-000002.tar")));
  for (const std::uint64_t i : {0, 1, 13, 199, 200, 209}) {
    CAPTURE(i);
    // Folders list one class after the other.
    const std::uint64_t in_folder = i % 10 * (kPhotos / 10) + i / 10;
    CHECK(photo_at(*archives, i) == photo_at(*photos, in_folder));
    CHECK(read_sample(*archives, i).field("label").as_integer() == static_cast<int>(i % 10));
  }
  CHECK(has(read_sample(*archives, 7).origin().to_string(), "photo_000007"));
}

TEST_CASE("archives are generated into a local folder alone, whole or not at all") {
  for (const std::string path : {"a.tar", "a-{0..3}.tar", "https://host/a", "s3://bucket/a"}) {
    CAPTURE(path);
    const std::string error = error_of([&] { generating("read.webdataset", path); });
    CHECK(has(error, path + ": what is generated is a local folder of archives"));
  }
  const TemporaryFolder folder;
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = generating("read.webdataset", folder.path("archives"));
  CHECK(has(error_of([&] { stopped->open_with({.stop = stop.get_token()}); }), "stopped"));
  CHECK_FALSE(std::filesystem::exists(folder.path("archives")));
}
