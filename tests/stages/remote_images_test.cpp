// read.image_folder over a bucket of S3: the samples of the same files in a local folder.
#include <string>
#include <vector>

#include "support/bucket_environment.hpp"
#include "support/bucket_server.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/http_client.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/pipeline/source_print.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

using ImageObjects = BucketServer::Objects;

ImageObjects bucket_images() {
  return {{"data/dog/img10.jpg", "ten"},
          {"data/dog/img9.JPEG", "nine"},
          {"data/dog/img09.png", "09"},
          {"data/dog/zoo/img1.webp", "zoo"},
          {"data/dog/a b+c/&.jpg", "odd"},
          {"data/dog/notes.txt", "no image"},
          {"data/dog/.cache/x.jpg", "hidden"},
          {"data/cat/b.bmp", std::string(5000, 'b')},
          {"data/cat/", ""},
          {"data/.hidden/x.jpg", "hidden"},
          {"data/top.jpg", "without a class"},
          {"other/bird/x.jpg", "elsewhere"}};
}

std::unique_ptr<SourceStage> opened_images(const std::string& path,
                                           const std::vector<NamedValue>& values = {}) {
  auto source = make_source("read.image_folder", path, values);
  source->open();
  return source;
}

std::string image_refusal(const ImageObjects& objects,
                          const std::string& path = "s3://bucket/data") {
  const BucketServer server(objects);
  const BucketEnvironment environment(server.url());
  return error_of([&] { opened_images(path); });
}

std::string image_bytes(const Sample& sample) {
  const auto image = sample.field("image").as<std::uint8_t>();
  return {image.begin(), image.end()};
}

}  // namespace

TEST_CASE("images of a bucket are those of a folder, each by one request") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  for (const auto& [key, content] : bucket_images()) {
    if (!key.ends_with('/')) folder.write(key, content);
  }
  const auto local = opened_images(folder.path("data"));
  for (const std::size_t page : {1UL, 3UL, 1000UL}) {
    const BucketServer server(bucket_images(), page);
    const BucketEnvironment environment(server.url());
    const auto remote = opened_images("s3://bucket/data/");
    CHECK(server.requests() == server.lists());
    REQUIRE(remote->size() == 6);
    REQUIRE(local->size() == 6);
    for (std::uint64_t i = 0; i < 6; ++i) {
      const Sample here = read_sample(*local, i);
      const Sample there = read_sample(*remote, i);
      CHECK(image_bytes(there) == image_bytes(here));
      CHECK(there.field("label").as_integer() == here.field("label").as_integer());
      CHECK(there.origin().to_string().substr(std::string("s3://bucket").size()) ==
            here.origin().to_string().substr(folder.path().size()));
    }
    CHECK(server.requests() == server.lists() + 6);
    CHECK(request_counts_of(*remote).value().samples == 6);
    CHECK(remote->files({0}).empty());
    CHECK_FALSE(request_counts_of(*local));
  }
}

TEST_CASE("a folder of a bucket without classes or images is refused as a local one is") {
  if (lacks_http_client()) return;
  CHECK(image_refusal({}) ==
        "3: s3://bucket/data: has no class folders; give each class a folder with its images");
  CHECK(has(image_refusal({{"data/x.jpg", "x"}}), "has images but no class folders"));
  CHECK(has(image_refusal({{"data/cat/x.jpg", "x"}, {"data/dog/x.txt", "x"}}),
            "3: s3://bucket/data/dog: has no images (.jpg"));
  CHECK(has(image_refusal({}, "s3://other/data"), "NoSuchBucket"));
  const auto usage = [](const std::string& path, const std::vector<NamedValue>& values = {}) {
    return usage_error([&] { opened_images(path, values); });
  };
  CHECK(has(usage("https://host/data"), "are not listed, only those of S3"));
  CHECK(has(usage("s3://bucket/data", {{"if_missing", std::string("generate")}}), "local folder"));
  CHECK(has(usage("/data", {{"cache", std::string("/cache")}}), "is a path of files"));
}

TEST_CASE("an image that is empty, was replaced or removed after it was listed is named") {
  if (lacks_http_client()) return;
  const BucketServer server(
      {{"data/cat/a.jpg", "after"}, {"data/cat/b.jpg", "after"}}, 1000,
      [](const std::string& target) {
        const auto asked = asked_page(target);
        if (!asked) return std::optional<Said>();
        const auto object = [](const std::string& name, int bytes, const std::string& tag) {
          return "<Contents><Key>data/cat/" + name + "</Key><Size>" + std::to_string(bytes) +
                 "</Size><ETag>" + tag + "</ETag></Contents>";
        };
        const std::string inside =
            asked->delimiter.empty()
                ? object("a.jpg", 5, "before") + object("b.jpg", 4, "") + object("c.jpg", 7, "") +
                      object("d.jpg", 0, "")
                : "<CommonPrefixes><Prefix>data/cat/</Prefix></CommonPrefixes>";
        return std::optional(Said{http_answer("200 OK", "",
                                              "<ListBucketResult><IsTruncated>false</IsTruncated>" +
                                                  inside + "</ListBucketResult>")});
      });
  const BucketEnvironment environment(server.url());
  const auto source = opened_images("s3://bucket/data");
  const auto error = [&](std::uint64_t index) {
    return error_of([&] { read_sample(*source, index); });
  };
  CHECK(error(0) == "3: s3://bucket/data/cat/a.jpg: it was changed while it was in use; run again");
  CHECK(has(error(1), "3: s3://bucket/data/cat/b.jpg: it was changed"));
  CHECK(has(error(2), "3: s3://bucket/data/cat/c.jpg: HTTP status 404 (NoSuchKey)"));
  CHECK(error(3) == "3: s3://bucket/data/cat/d.jpg: is empty");
}

TEST_CASE("what is cached of other images is another thing") {
  if (lacks_http_client()) return;
  const auto content = [](const ImageObjects& objects) {
    const BucketServer server(objects);
    const BucketEnvironment environment(server.url());
    const auto source = opened_images("s3://bucket/data");
    return content_of({.stages = "", .source = source.get()});
  };
  ImageObjects objects = bucket_images();
  const std::string before = content(objects);
  CHECK(content(objects) == before);
  objects["data/cat/b.bmp"] = std::string(5000, 'c');
  CHECK(content(objects) != before);
}

TEST_CASE("a cache serves images to a later run, which asks for the lists alone") {
  if (lacks_http_client()) return;
#ifdef CACHEBISECT_WITH_SQLITE
  const TemporaryFolder cache;
  const BucketServer server(bucket_images());
  const BucketEnvironment environment(server.url());
  for (const int asked : {6, 0}) {
    const int before = server.requests() - server.lists();
    const auto source =
        opened_images("s3://bucket/data", {{"cache", cache.path()}, {"cache_limit_gb", 0.1}});
    for (std::uint64_t i = 0; i < source->size(); ++i) read_sample(*source, i);
    CHECK(server.requests() - server.lists() - before == asked);
  }
#else
  skip("SQLite (libsqlite3-dev)");
#endif
}
