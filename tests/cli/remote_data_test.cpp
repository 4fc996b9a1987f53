// Pipelines whose samples lie on a server.
#include <chrono>
#include <csignal>
#include <stop_token>
#include <string>
#include <thread>

#include "stages/tar_archive.hpp"
#include "support/bucket_environment.hpp"
#include "support/bucket_server.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/folder_server.hpp"
#include "support/http_client.hpp"
#include "support/shard_folder.hpp"
#include "support/storage_settings.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/emulator/storage_emulator.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

/// Pixels as they are, so that no codec is needed.
std::string remote_pipeline(const std::string& path, const std::string& use = "read.webdataset") {
  return R"({"name": "remote", "batch_size": 8, "workers": 2, "device": "emulated", "stages": [
      {"use": ")" +
         use + R"(", "path": ")" + path + R"("}, {"use": "collate.pad"}, {"use": "copy.device"}],
      "train": {"kind": "emulated"}})";
}

std::string pixel_archive(int first, int end) {
  std::string text;
  for (int i = first; i < end; ++i) {
    text += tar_sample(std::to_string(i), object_content(200 + static_cast<std::size_t>(i)),
                       std::to_string(i));
  }
  return text + tar_end();
}

/// What tells all samples of a data set, in their order.
std::string checksums(const std::string& path) {
  const TemporaryFolder folder;
  const auto result = run_tool({"prepare", "--pipeline", "-", "--out", folder.path("out"),
                                "--after", "read", "--codec", "none"},
                               remote_pipeline(path));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  std::string text;
  const json index = json::parse(read_file(folder.path("out/index.json")));
  for (const json& shard : index["shards"]) {
    text += shard["samples"].dump() + " " + shard["index_checksum"].dump() + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("samples of the emulator's objects are those of the files that it serves") {
  if (lacks_http_client()) return;
#ifdef CACHEBISECT_WITH_HTTP_SERVER
  const TemporaryFolder folder;
  folder.write("a-0.tar", pixel_archive(0, 60));
  folder.write("a-1.tar", pixel_archive(60, 100));
  StorageEmulator emulator({.folder = folder.path(), .storage = unlimited_storage()});
  const std::jthread thread([&](const std::stop_token& stop) { emulator.serve(stop); });
  const std::string local = checksums(folder.path("a-{0..1}.tar"));
  CHECK(has(local, "100 "));
  CHECK(checksums(emulator.url() + "/a-{0..1}.tar") == local);
#else
  skip("cpp-httplib (libcpp-httplib-dev)");
#endif
}

TEST_CASE("a run over a server that refuses at first ends right, with what was repeated") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("a.tar", pixel_archive(0, 100));
  const FolderServer server(folder.path(), 3);
  const auto result = run_tool({"--pipeline", "-", "--budget", "1", "--json", "-"},
                               remote_pipeline(server.url("/a.tar")));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(has(result.err, "3 of them repeated (3 throttled, 0 failed)"));
  CHECK(json::parse(result.out)["stages"][0]["type"] == "read.webdataset");
}

TEST_CASE("cold storage is not known of a server") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  folder.write("a.tar", pixel_archive(0, 20));
  const FolderServer server(folder.path());
  const auto result =
      run_tool({"--pipeline", "-", "--io", "cold"}, remote_pipeline(server.url("/a.tar")));
  CHECK(result.exit_code == 2);
  CHECK(has(result.err, "reads from a server"));
}

TEST_CASE("a run over shards on a server tells what a sample asks of it") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_shard_folder(folder, 100, 40, 200);
  const FolderServer server(folder.path());
  const auto result = run_tool({"--pipeline", "-", "--budget", "1", "--json", "-"},
                               remote_pipeline(server.url("/"), "read.shards"));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(json::parse(result.out)["stages"][0]["type"] == "read.shards");
  CHECK(server.requests() > 100);
}

TEST_CASE("the images of a bucket are prepared as those of a folder, and a wrong bucket is named") {
  if (lacks_http_client()) return;
  BucketServer::Objects objects;
  for (int i = 0; i < 40; ++i) {
    objects["photos/" + std::to_string(i % 2) + "/" + std::to_string(i) + ".jpg"] =
        object_content(200 + static_cast<std::size_t>(i));
  }
  const BucketServer server(objects, 7);
  const BucketEnvironment environment(server.url());
  const auto result =
      run_tool({"prepare", "--pipeline", "-", "--out", TemporaryFolder().path("out"), "--after",
                "read", "--codec", "none"},
               remote_pipeline("s3://bucket/photos", "read.image_folder"));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(server.lists() > 0);
  const auto denied = run_tool({"check", "--pipeline", "-"},
                               remote_pipeline("s3://other/photos/", "read.webdataset"));
  CHECK(denied.exit_code == 3);
  CHECK(has(denied.err, "s3://other/photos/: HTTP status 404 (NoSuchBucket); check the name"));
}

TEST_CASE("Ctrl-C ends a run that waits for a server") {
  if (lacks_http_client()) return;
  for (const char* use : {"read.webdataset", "read.shards", "read.tfrecord"}) {
    const SocketServer silent([](const std::string&) { return Said{}; });
    const auto result =
        run_tool({"check", "--pipeline", "-"}, remote_pipeline(silent.url("/a.tar"), use),
                 [&](pid_t child, const auto&) {
                   while (silent.requests() == 0) {
                     std::this_thread::sleep_for(std::chrono::milliseconds(5));
                   }
                   kill(child, SIGINT);
                 });
    CHECK(result.exit_code == 130);
    CHECK(silent.requests() == 1);
  }
}
