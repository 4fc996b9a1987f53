// read.webdataset over archives that the list of a bucket names.
#include <string>
#include <vector>

#include "stages/datasets/object_paths.hpp"
#include "stages/tar_archive.hpp"
#include "support/bucket_environment.hpp"
#include "support/bucket_server.hpp"
#include "support/errors.hpp"
#include "support/http_client.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/remote_source.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using stages::matches_pattern;

namespace {

/// One sample, whose label tells the archive.
std::string labelled_archive(int label) {
  return tar_sample("x", "image", std::to_string(label)) + tar_end();
}

BucketServer::Objects labelled_archives() {
  return {{"data/.hidden.tar", "x"},
          {"data/", ""},
          {"data/notes.txt", "x"},
          {"data/train-10.tar", labelled_archive(10)},
          {"data/train-2.tar", labelled_archive(2)},
          {"data/train-9.tar", labelled_archive(9)},
          {"data/more/train-3.tar", labelled_archive(3)},
          {"data/val/train-4.tar", labelled_archive(4)},
          {"data/val/.train-5.tar", "x"},
          {"packed/a.tar.gz", "x"},
          {"data-7.tar", labelled_archive(7)}};
}

std::vector<std::int64_t> labels_of(const std::string& path) {
  const auto source = make_source("read.webdataset", path);
  source->open();
  std::vector<std::int64_t> labels;
  for (std::uint64_t i = 0; i < source->size(); ++i) {
    labels.push_back(read_sample(*source, i).field("label").as_integer());
  }
  return labels;
}

std::string archive_refusal(const std::string& path) {
  return error_of([&] { static_cast<void>(labels_of(path)); });
}

}  // namespace

TEST_CASE("a * stands for any characters of a name") {
  const auto matches = [](const std::string& path, const std::string& pattern) {
    return matches_pattern(path, pattern);
  };
  CHECK(matches("s3://b/a/x-1.tar", "s3://b/a/*.tar"));
  CHECK(matches("s3://b/a/x-1.tar", "s3://b/*/x-*.tar"));
  CHECK(matches("s3://b/a/x-1.tar", "s3://b/a/x-1.tar"));
  CHECK(matches("ababac", "a*bac"));
  CHECK(matches("abc", "***"));
  CHECK(matches("abc", "abc*"));
  CHECK_FALSE(matches("s3://b/a/x-1.tar", "s3://b/*.tar"));
  CHECK_FALSE(matches("s3://b/a/x-1.tar.gz", "s3://b/a/*.tar"));
  CHECK_FALSE(matches("s3://b/a/.x.tar", "s3://b/a/*.tar"));
  CHECK_FALSE(matches("ab", "a*bb"));
  CHECK_FALSE(matches("a/", "a"));
  CHECK_FALSE(matches("a", "a/"));
  const std::string many(4000, 'a');
  CHECK_FALSE(matches(many, "*a*a*a*a*a*a*a*a*b"));
}

TEST_CASE("archives of a bucket are found by a folder or a pattern, in natural order") {
  if (lacks_http_client()) return;
  for (const std::size_t page : {2UL, 1000UL}) {
    const BucketServer server(labelled_archives(), page);
    const BucketEnvironment environment(server.url());
    using Labels = std::vector<std::int64_t>;
    CHECK(labels_of("s3://bucket/data/") == Labels{2, 9, 10});
    CHECK(labels_of("s3://bucket/data/*.tar") == Labels{2, 9, 10});
    CHECK(labels_of("s3://bucket/data/*-1*.tar") == Labels{10});
    CHECK(labels_of("s3://bucket/data/*/train-*.tar") == Labels{3, 4});
    CHECK(labels_of("s3://bucket/data/{val,more}/*.tar") == Labels{4, 3});
    CHECK(labels_of("s3://bucket/*.tar") == Labels{7});
    CHECK(labels_of("s3://bucket/data/train-{9..10}.tar") == Labels{9, 10});
  }
}

TEST_CASE("what a bucket does not have is named with what it has") {
  if (lacks_http_client()) return;
  const BucketServer server(labelled_archives());
  const BucketEnvironment environment(server.url());
  CHECK(archive_refusal("s3://bucket/data/test-*.tar") ==
        "3: s3://bucket/data/test-*.tar: no object has such a name; 0 objects and folders begin "
        "with \"s3://bucket/data/test-\"");
  CHECK(archive_refusal("s3://bucket/none/") == "3: s3://bucket/none/: has no tar files (*.tar)");
  CHECK(has(archive_refusal("s3://bucket/packed/"), "such as \"a.tar.gz\", which are compressed"));
  CHECK(has(archive_refusal("s3://other/data/"),
            "3: s3://other/data/: HTTP status 404 (NoSuchBucket)"));
  CHECK(has(archive_refusal("s3://buc*/data/"),
            "2: s3://buc*/data/: the name of the bucket is no pattern"));
  CHECK(has(archive_refusal(server.url() + "/bucket/"), "are not listed, only those of S3"));
}

TEST_CASE("a bucket that lists an archive twice is refused") {
  if (lacks_http_client()) return;
  const std::string one = "<Contents><Key>a.tar</Key><Size>1</Size></Contents>";
  const BucketServer server({}, 1000, [&](const std::string&) {
    return std::optional(Said{http_answer(
        "200 OK", "",
        "<ListBucketResult><IsTruncated>false</IsTruncated>" + one + one + "</ListBucketResult>")});
  });
  const BucketEnvironment environment(server.url());
  CHECK(archive_refusal("s3://bucket/*.tar") == "3: s3://bucket/a.tar: the server lists it twice");
}
