// read.webdataset over HTTP: the same samples as from files.
#include <atomic>
#include <string>

#include "stages/tar_archive.hpp"
#include "support/errors.hpp"
#include "support/folder_server.hpp"
#include "support/http_client.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/pipeline/source_print.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::unique_ptr<SourceStage> opened_archives(const std::string& path, double buffer = 0) {
  auto source = make_source("read.webdataset", path, {{"shuffle_buffer_mb", buffer}});
  source->open();
  return source;
}

/// Images of `bytes`, and labels that count.
std::string counting_archive(int first, int end, std::size_t bytes) {
  std::string text;
  for (int i = first; i < end; ++i) {
    const std::string number = std::to_string(i);
    text +=
        tar_sample(number, number + object_content(bytes + static_cast<std::size_t>(i)), number);
  }
  return text + tar_end();
}

std::string shown(const Sample& sample) {
  const auto image = sample.field("image").as<std::uint8_t>();
  return std::string(image.begin(), image.end()) + "|" +
         std::to_string(sample.field("label").as_integer()) + "|" +
         std::string(sample.origin().name);
}

void check_same(const SourceStage& local, const SourceStage& remote) {
  REQUIRE(remote.size() == local.size());
  for (std::uint64_t i = 0; i < local.size(); ++i) {
    CHECK(shown(read_sample(remote, i)) == shown(read_sample(local, i)));
  }
}

RequestCounts counts_of(const SourceStage& source) { return request_counts_of(source).value(); }

}  // namespace

TEST_CASE("archives on a server give the samples of archives in files") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("a-0.tar", counting_archive(0, 30, 40));
  folder.write("a-1.tar", counting_archive(30, 40, 3000));
  const FolderServer server(folder.path());
  for (const double buffer : {0.0, 1.0}) {
    const auto local = opened_archives(folder.path("a-{0..1}.tar"), buffer);
    const auto remote = opened_archives(server.url("/a-{0..1}.tar"), buffer);
    check_same(*local, *remote);
    CHECK(remote->read_runs().samples == local->read_runs().samples);
    CHECK(local->files({0}).size() == 1);
    CHECK(remote->files({0}).empty());
    CHECK_FALSE(request_counts_of(*local));
    CHECK(counts_of(*remote).samples == 40);
    CHECK(counts_of(*remote).repeated == 0);
    const Sample first = read_sample(*remote, 0);
    CHECK(first.origin().to_string() == server.url("/a-0.tar/0.jpg"));
  }
}

TEST_CASE("small members are found by few requests, large ones are passed over") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("small.tar", counting_archive(0, 1000, 2000));
  folder.write("large.tar", counting_archive(0, 5, 1'500'000));
  const FolderServer server(folder.path());
  const RequestCounts small = counts_of(*opened_archives(server.url("/small.tar")));
  CHECK(small.requests < 20);
  const RequestCounts large = counts_of(*opened_archives(server.url("/large.tar")));
  CHECK(large.requests < 12);
  CHECK(large.received_bytes < 500'000);
}

TEST_CASE("a server that refuses at first is asked again, and counted") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tar", counting_archive(0, 10, 100));
  const FolderServer server(folder.path(), 3);
  const auto remote = opened_archives(server.url("/a.tar"));
  check_same(*opened_archives(path), *remote);
  CHECK(counts_of(*remote).repeated == 3);
  CHECK(counts_of(*remote).throttled == 3);
  CHECK(has(to_text(counts_of(*remote)), "3 of them repeated (3 throttled, 0 failed)"));
}

TEST_CASE("what is no archive on a server is named, without what may be secret") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("text.tar", std::string(2000, 'x'));
  folder.write("short.tar", counting_archive(0, 3, 100).substr(0, 2000));
  const FolderServer server(folder.path());
  const auto refused = [&](const std::string& path) {
    return error_of([&] { opened_archives(server.url(path)); });
  };
  CHECK(refused("/none.tar?signature=secret") ==
        "3: " + server.url("/none.tar") + ": HTTP status 404");
  CHECK(has(refused("/text.tar"), server.url("/text.tar") + ": is not a tar archive"));
  CHECK(has(refused("/short.tar"), "cut short"));
  CHECK(has(refused("/"), "2: " + server.url("/") + ": folders of http:// and https:// are not"));
}

TEST_CASE("what is cached of other objects is another thing") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("a.tar", counting_archive(0, 3, 100));
  const FolderServer server(folder.path());
  const auto content = [&] {
    const auto source = opened_archives(server.url("/a.tar"));
    return content_of({.stages = "", .source = source.get()});
  };
  const std::string before = content();
  CHECK(content() == before);
  folder.write("a.tar", counting_archive(0, 3, 1000));
  CHECK(content() != before);
}
