// read.tfrecord over HTTP and S3: the same samples as from files.
#include <filesystem>
#include <string>

#include "support/bucket_environment.hpp"
#include "support/bucket_server.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/folder_server.hpp"
#include "support/http_client.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include "support/tfrecords.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/remote_source.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::unique_ptr<SourceStage> opened_records(const std::string& path) {
  auto source = make_source("read.tfrecord", path);
  source->open();
  return source;
}

/// Labels count, images have `bytes` and a few more.
std::string counting_records(int first, int end, std::size_t bytes) {
  std::string text;
  for (int i = first; i < end; ++i) {
    text += tf_record(tf_image_example(object_content(bytes + static_cast<std::size_t>(i)), i));
  }
  return text;
}

std::string record_shown(const Sample& sample) {
  const auto image = sample.field("image").as<std::uint8_t>();
  const std::string name = std::filesystem::path(sample.origin().to_string()).filename().string();
  return std::string(image.begin(), image.end()) + "|" +
         std::to_string(sample.field("label").as_integer()) + "|" + name;
}

void check_same_records(const SourceStage& local, const SourceStage& remote) {
  REQUIRE(remote.size() == local.size());
  for (std::uint64_t i = 0; i < local.size(); ++i) {
    CHECK(record_shown(read_sample(remote, i)) == record_shown(read_sample(local, i)));
  }
}

RequestCounts record_requests(const SourceStage& source) {
  return request_counts_of(source).value();
}

}  // namespace

TEST_CASE("records on a server are those of files, one request each") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("a-00000-of-00002", counting_records(0, 30, 40));
  folder.write("a-00001-of-00002", counting_records(30, 40, 3000));
  const FolderServer server(folder.path());
  const std::string pattern = "a-{00000..00001}-of-00002";
  const auto local = opened_records(folder.path(pattern));
  const auto remote = opened_records(server.url("/" + pattern));
  const std::uint64_t indexing = record_requests(*remote).requests;
  CHECK(indexing == 4);
  check_same_records(*local, *remote);
  CHECK(record_requests(*remote).requests == indexing + 40);
  CHECK(record_requests(*remote).samples == 40);
  CHECK(remote->files({0}).empty());
  CHECK_FALSE(request_counts_of(*local));
}

TEST_CASE("large records are passed over, small ones are indexed by few requests") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("small.tfrecord", counting_records(0, 1000, 2000));
  folder.write("large.tfrecord", counting_records(0, 5, 1'500'000));
  const FolderServer server(folder.path());
  CHECK(record_requests(*opened_records(server.url("/small.tfrecord"))).requests < 12);
  const RequestCounts large = record_requests(*opened_records(server.url("/large.tfrecord")));
  CHECK(large.requests < 12);
  CHECK(large.received_bytes < 500'000);
}

TEST_CASE("a bucket's records are found by its list") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  const BucketServer::Objects objects{{"data/a-2.tfrecord", counting_records(0, 3, 10)},
                                      {"data/a-10.tfrec", counting_records(3, 5, 10)},
                                      {"data/notes.txt", "x"}};
  for (const auto& [key, content] : objects) folder.write(key, content);
  const BucketServer server(objects, 1);
  const BucketEnvironment environment(server.url());
  check_same_records(*opened_records(folder.path("data")), *opened_records("s3://bucket/data/"));
  CHECK(opened_records("s3://bucket/data/*.tfrec")->size() == 2);
}

TEST_CASE("what is no file of records on a server is named") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("text.tfrecord", std::string(2000, 'x'));
  folder.write("packed.tfrecord.gz", "\x1f\x8b\x08" + std::string(2000, 'x'));
  folder.write("short.tfrecord", counting_records(0, 3, 100).substr(0, 200));
  const FolderServer server(folder.path());
  const auto refused = [&](const std::string& path) {
    return error_of([&] { opened_records(server.url(path)); });
  };
  CHECK(has(refused("/text.tfrecord"), server.url("/text.tfrecord") + ": is no TFRecord file"));
  CHECK(has(refused("/packed.tfrecord.gz"), "objects of servers are not unpacked"));
  CHECK(has(refused("/short.tfrecord"), "cut short"));
  CHECK(has(refused("/none.tfrecord"), "HTTP status 404"));
  CHECK(has(refused("/"), "are not listed, only those of S3"));
}
