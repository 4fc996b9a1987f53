// A cache on disk of what servers give: the server is asked once, and nothing that is served is
// wrong, whatever happens to the file.
#ifdef CACHEBISECT_WITH_SQLITE
#include "stages/support/object_cache.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "stages/tar_archive.hpp"
#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/folder_server.hpp"
#include "support/http_client.hpp"
#include "support/random_bytes.hpp"
#include "support/sanitized.hpp"
#include "support/shard_folder.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/objects/remote_store.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr double kCacheLimitGb = 0.032;
constexpr std::uint64_t kRangeBytes = 20'000;

std::unique_ptr<SourceStage> cached_source(const std::string& use, const std::string& path,
                                           const std::string& scratch, double buffer = 0) {
  auto source = make_source(
      use, path,
      {{"cache", scratch}, {"cache_limit_gb", kCacheLimitGb}, {"shuffle_buffer_mb", buffer}});
  source->open();
  return source;
}

/// All samples, each once.
std::string epoch_of(const SourceStage& source) {
  std::string text;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const Sample sample = read_sample(source, i);
    const auto image = sample.field("image").as<std::uint8_t>();
    text.append(image.begin(), image.end());
    text += "|" + std::to_string(sample.field("label").as_integer()) + "\n";
  }
  return text;
}

/// Bytes that no object has, and that a range tells.
std::vector<std::byte> kept_bytes(std::uint64_t number, std::size_t bytes = kRangeBytes) {
  RandomStream random({.seed = 4, .index = number});
  std::vector<std::byte> made(bytes);
  draw_bytes(random, made);
  return made;
}

void keep_range(ByteCache& store, std::uint64_t number, const std::string& object = "a") {
  const auto bytes = kept_bytes(number);
  const std::span<const std::byte> all(bytes);
  store.keep({.object = object, .offset = number}, all.first(100), all.subspan(100));
}

/// 1: it is there; 0: it is not. What is there is right.
int found_range(ByteCache& store, std::uint64_t number, const std::string& object = "a") {
  std::vector<std::byte> bytes(kRangeBytes);
  const std::span<std::byte> all(bytes);
  if (!store.find({.object = object, .offset = number}, all.first(7), all.subspan(7))) return 0;
  REQUIRE(bytes == kept_bytes(number));
  return 1;
}

int found_ranges(ByteCache& store, std::uint64_t ranges, const std::string& object = "a") {
  int found = 0;
  for (std::uint64_t i = 0; i < ranges; ++i) found += found_range(store, i, object);
  return found;
}

std::shared_ptr<ByteCache> range_cache(const std::string& folder, double limit_bytes = 32e6) {
  return stages::open_object_cache(
      {.folder = folder, .limit_bytes = static_cast<std::uint64_t>(limit_bytes)});
}

std::string objects_file(const std::string& folder) { return folder + "/objects.sqlite"; }

void keep_hundred(const std::string& folder) {
  const auto store = range_cache(folder);
  for (std::uint64_t i = 0; i < 100; ++i) keep_range(*store, i);
}

/// Opens what `damage` has made of a copy of the file. Nothing that is served is wrong; what is not
/// served is kept again, and then served. Returns how many were served before; -1: the file is
/// refused.
int found_after(const std::string& folder, const std::function<void(const std::string&)>& damage) {
  const TemporaryFolder copy;
  std::filesystem::copy_file(objects_file(folder), objects_file(copy.path()));
  damage(objects_file(copy.path()));
  int found = 0;
  const std::string refusal = usage_error([&] {
    const auto store = range_cache(copy.path());
    for (std::uint64_t i = 0; i < 100; ++i) {
      const int one = found_range(*store, i);
      if (one == 0) keep_range(*store, i);
      found += one;
    }
    CHECK(found_ranges(*store, 100) >= 99);  // What was found damaged while it was kept.
  });
  // Only what looks like no file of ours.
  if (refusal.empty()) return found;
  CHECK(has(refusal, "remove the folder"));
  return -1;
}

}  // namespace

TEST_CASE("a second epoch asks the server for nothing, a second run for sizes and tags alone") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  std::string tar;
  for (int i = 0; i < 40; ++i) {
    tar += tar_sample(std::to_string(i), counting_image(static_cast<std::uint64_t>(i), 3000),
                      std::to_string(i));
  }
  folder.write("a-0.tar", tar + tar_end());
  folder.write("a-1.tar", tar + tar_end());
  write_shard_folder(folder, 60, 20, 3000);
  const FolderServer server(folder.path());
  for (const double buffer : {0.0, 1.0}) {
    for (const bool is_tar : {true, false}) {
      CAPTURE(is_tar);
      CAPTURE(buffer);
      const std::string use = is_tar ? "read.webdataset" : "read.shards";
      const std::string path = is_tar ? "/a-{0..1}.tar" : "";
      const int objects = is_tar ? 2 : 4;
      const TemporaryFolder scratch;
      auto local = make_source(use, folder.path() + path);
      local->open();
      const std::string expected = epoch_of(*local);
      {
        const auto first = cached_source(use, server.url(path), scratch.path(), buffer);
        CHECK(epoch_of(*first) == expected);
        const int asked = server.requests();
        CHECK(epoch_of(*first) == expected);
        CHECK(server.requests() == asked);
      }
      const int asked = server.requests();
      const auto later = cached_source(use, server.url(path), scratch.path(), buffer);
      CHECK(epoch_of(*later) == expected);
      CHECK(server.requests() == asked + objects);
    }
  }
}

TEST_CASE("what was kept of an object is not served of what came in its place") {
  const TemporaryFolder scratch;
  const auto kept = range_cache(scratch.path());
  const auto bytes = kept_bytes(1);
  keep_range(*kept, 1, "http://host/x\n5\n\"1\"");
  CHECK(found_range(*kept, 1, "http://host/x\n5\n\"1\"") == 1);
  CHECK(found_range(*kept, 1, "http://host/x\n5\n\"2\"") == 0);
  CHECK(found_range(*kept, 2, "http://host/x\n5\n\"1\"") == 0);
  std::vector<std::byte> shorter(100);
  const std::string object = "http://host/x\n5\n\"1\"";
  CHECK_FALSE(kept->find({.object = object, .offset = 1}, shorter, {}));
}

TEST_CASE("an object that changes while it is cached gives the new samples in the next run") {
  if (lacks_http_client()) return;
  const TemporaryFolder scratch;
  std::string content = object_content(1000);
  std::string tag = "\"1\"";
  const ObjectServer server("", [&](int, const std::string& head) {
    return std::optional(part_answer(head, content, tag));
  });
  const auto read_part = [&] {
    const auto store =
        std::make_shared<const RemoteStore>(std::stop_token(), range_cache(scratch.path()));
    std::vector<std::byte> bytes(100);
    RemoteStore::open(store, server.url())->read(50, bytes);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  CHECK(read_part() == content.substr(50, 100));
  CHECK(read_part() == content.substr(50, 100));
  CHECK(server.requests() == 3);
  content = std::string(1000, 'z');  // As large as before.
  tag = "\"2\"";
  CHECK(read_part() == content.substr(50, 100));
  CHECK(server.requests() == 5);
}

TEST_CASE("an object that nothing tells from others is not cached") {
  if (lacks_http_client()) return;
  const TemporaryFolder scratch;
  const ObjectServer server("", [](int, const std::string&) {
    return std::optional(
        Said{http_answer("206 Partial Content", "Content-Range: bytes 0-0/1000\r\n", "x")});
  });
  const std::string error =
      error_of([&] { cached_source("read.webdataset", server.url("/a.tar"), scratch.path()); });
  CHECK(has(error, "3: " + server.url("/a.tar") + ": the server says neither ETag"));
  CHECK(has(error, "leave out \"cache\""));
}

TEST_CASE("the cache is of servers, in a folder of this machine") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tar", tar_sample("a", "x", "1") + tar_end());
  CHECK(has(error_of([&] { cached_source("read.webdataset", path, folder.path("c")); }),
            "2: \"cache\" keeps objects of servers"));
  CHECK_FALSE(std::filesystem::exists(folder.path("c")));
  CHECK(has(error_of([&] {
              make_source("read.shards", folder.path(), {{"cache", "s3://a/b"}});
            }),
            "2: \"cache\" must be a folder"));
  CHECK(has(error_of([&] {
              make_source("read.webdataset", "http://127.0.0.1/a.tar",
                          {{"cache", folder.path("c")}, {"cache_limit_gb", 0.001}});
            }),
            "must be 0.017 or more"));
  const std::string file = folder.write("file", std::string("no folder"));
  CHECK(has(usage_error([&] { range_cache(file); }), file));
  folder.write("other/objects.sqlite", std::string(8192, 'x'));
  CHECK(has(usage_error([&] { range_cache(folder.path("other")); }), "cannot be opened"));
  CHECK(std::filesystem::file_size(objects_file(folder.path("other"))) == 8192);
}

TEST_CASE("flipped bytes of the file are found, and what they held is asked for again") {
  const TemporaryFolder folder;
  keep_hundred(folder.path());
  const auto size = std::filesystem::file_size(objects_file(folder.path()));
  CHECK(found_after(folder.path(), [](const std::string&) {}) == 100);
  RandomStream random({.seed = 7});
  int found = 0;
  int refused = 0;
  const int files = kIsSanitized ? 30 : 60;
  for (int i = 0; i < files; ++i) {
    const int one = found_after(folder.path(), [&](const std::string& file) {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      const auto at =
          static_cast<std::streamoff>(i < 20 ? i * 5 : static_cast<int>(random.next_u64() % size));
      stream.seekg(at);
      const auto byte = static_cast<char>(stream.get() ^ 0x41);
      stream.seekp(at);
      stream.put(byte);
    });
    found += one;
    refused += one < 0 ? 1 : 0;
  }
  CHECK(refused <= 20);                   // Those whose head is not that of a file of ours.
  CHECK(found > (files - refused) * 50);  // One range of a hundred, mostly.
}

TEST_CASE("a file that was cut is emptied, and fills again") {
  const TemporaryFolder folder;
  keep_hundred(folder.path());
  const auto size = std::filesystem::file_size(objects_file(folder.path()));
  const int files = kIsSanitized ? 8 : 20;
  for (int i = 0; i < files; ++i) {
    CAPTURE(i);
    const int found = found_after(folder.path(), [&](const std::string& file) {
      const auto part = static_cast<std::uintmax_t>(i);
      std::filesystem::resize_file(file, part * size / static_cast<std::uintmax_t>(files));
    });
    CHECK(found >= 0);
  }
}

TEST_CASE("a process that is killed while it fills leaves whole ranges") {
  const TemporaryFolder folder;
  const auto watcher = range_cache(folder.path());
  for (const int wanted : {20, 60, 150}) {
    const pid_t child = fork();
    if (child == 0) {
      const auto own = range_cache(folder.path());
      for (std::uint64_t i = 0;; ++i) keep_range(*own, i % 500);
    }
    while (found_ranges(*watcher, 500) < wanted) std::this_thread::yield();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const auto after = range_cache(folder.path());
    CHECK(found_ranges(*after, 500) >= wanted);
    keep_range(*after, 499);
    CHECK(found_range(*after, 499) == 1);
  }
}

TEST_CASE("a disk that is full is no error: the server is asked") {
  const TemporaryFolder folder;
  const int status = status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const auto store = range_cache(folder.path());
    const rlimit limit{700'000, 700'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (std::uint64_t i = 0; i < 200; ++i) keep_range(*store, i);
    _exit(found_ranges(*store, 200) < 100 ? 0 : 1);
  });
  CHECK(status == 0);
  const auto after = range_cache(folder.path());
  CHECK(found_ranges(*after, 200) < 100);
  keep_range(*after, 199);
  CHECK(found_range(*after, 199) == 1);
}

TEST_CASE("several threads and processes use one file of ranges") {
  const TemporaryFolder folder;
  const auto store = range_cache(folder.path());
  const int status = status_of_child([&] {
    const auto own = range_cache(folder.path());
    for (std::uint64_t i = 0; i < 200; ++i) keep_range(*own, i);
  });
  CHECK(status == 0);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (std::uint64_t i = 200 + t; i < 400; i += 4) keep_range(*store, i);
      for (std::uint64_t i = 0; i < 200; ++i) static_cast<void>(found_range(*store, i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(found_ranges(*store, 200) == 200);
}

TEST_CASE("what earlier runs left makes room at the limit, what this run kept stays") {
  constexpr double kFullAt = 20e6;
  constexpr std::uint64_t kAll = 1500;
  const TemporaryFolder folder;
  {
    const auto first = range_cache(folder.path(), kFullAt);
    for (std::uint64_t i = 0; i < kAll; ++i) keep_range(*first, i, "old");
    CHECK(found_range(*first, 0, "old") == 1);
    CHECK(found_range(*first, kAll - 1, "old") == 0);  // No room.
  }
  {
    const auto second = range_cache(folder.path(), kFullAt);
    for (std::uint64_t i = 0; i < 64; ++i) CHECK(found_range(*second, i, "old") == 1);
    for (std::uint64_t i = 0; i < kAll; ++i) keep_range(*second, i, "new");
    CHECK(found_range(*second, 0, "new") == 1);
    CHECK(found_ranges(*second, 64, "old") == 64);  // What it has asked for.
    CHECK(found_ranges(*second, kAll, "old") == 64);
    CHECK(found_ranges(*second, kAll, "new") > 500);
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (!has(entry.path().filename().string(), "-shm")) bytes += entry.file_size();
  }
  CHECK(static_cast<double>(bytes) <= 1.01 * kFullAt);
}
#endif
