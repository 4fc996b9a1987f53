// A cache on disk: what it serves is right whatever happens to the file, or it is not served.
#ifdef CACHEBISECT_WITH_SQLITE
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/random_bytes.hpp"
#include "support/sanitized.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/replay/cache/fill_stages.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr double kLimit = 32e6;
constexpr std::size_t kBytes = 20'000;

std::unique_ptr<CacheStage> disk_cache(const std::string& folder, double limit_bytes = kLimit,
                                       const std::string& evict = "none",
                                       const std::string& stages = "read\n") {
  auto stage = make_stage<CacheStage>(
      "cache.disk", {{"path", folder}, {"limit_gb", limit_bytes / 1e9}, {"evict", evict}});
  stage->set_origin({.stages = stages});
  stage->open();
  return stage;
}

/// Its bytes depend on its index alone.
Sample disk_sample(std::uint64_t index, std::size_t bytes = kBytes) {
  Sample sample;
  sample.set_index({index});
  RandomStream random({.seed = 3, .index = index});
  draw_bytes(random, std::as_writable_bytes(sample.field("image").resize_as<std::uint8_t>(
                         Shape{static_cast<std::int64_t>(bytes / 4), 4})));
  sample.field("label").set(static_cast<std::int64_t>(index % 10));
  return sample;
}

void keep_on_disk(const CacheStage& stage, std::uint64_t index, std::size_t bytes = kBytes) {
  const Sample sample = disk_sample(index, bytes);
  static_cast<void>(process_sample(stage, sample));
}

bool same_fields(const Sample& a, const Sample& b) {
  if (a.fields().size() != b.fields().size()) return false;
  for (const Sample::NamedField& named : a.fields()) {
    const Field* const other = b.find(named.name);
    if (other == nullptr || other->dtype() != named.field.dtype() ||
        !(other->shape() == named.field.shape())) {
      return false;
    }
    if (std::memcmp(other->data(), named.field.data(), named.field.byte_size()) != 0) return false;
  }
  return true;
}

enum class Served { right, absent, wrong };

Served served(const CacheStage& stage, std::uint64_t index, std::size_t bytes = kBytes) {
  Sample out;
  if (!stage.find({index}, out)) return Served::absent;
  const bool right = out.index() == index && same_fields(out, disk_sample(index, bytes));
  return right ? Served::right : Served::wrong;
}

int count_right(const CacheStage& stage, std::uint64_t samples) {
  int right = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const Served one = served(stage, i);
    REQUIRE(one != Served::wrong);
    right += one == Served::right ? 1 : 0;
  }
  return right;
}

std::string file_of(const std::string& folder) { return folder + "/cache.sqlite"; }

/// A closed cache with the samples 0 to 99.
void fill_hundred(const std::string& folder) {
  const auto stage = disk_cache(folder);
  for (std::uint64_t i = 0; i < 100; ++i) keep_on_disk(*stage, i);
}

/// Opens what `damage` has made of a copy of the file: nothing that is served may be wrong, and
/// what cannot be used says so. Returns how many samples are served.
int right_after(const std::string& folder, const std::function<void(const std::string&)>& damage) {
  const TemporaryFolder copy;
  std::filesystem::copy_file(file_of(folder), file_of(copy.path()));
  damage(file_of(copy.path()));
  int right = 0;
  try {
    const auto stage = disk_cache(copy.path());
    for (std::uint64_t i = 0; i < 100; ++i) {
      try {
        const Served one = served(*stage, i);
        CHECK(one != Served::wrong);
        right += one == Served::right ? 1 : 0;
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::data);
        CHECK(has(error.what(), "remove its folder"));
      }
    }
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(has(error.what(), copy.path()));
  }
  return right;
}

}  // namespace

TEST_CASE("what is kept is there for later stages and later runs, bit for bit") {
  const TemporaryFolder folder;
  const std::string path = folder.path("made/by/it");
  {
    const auto stage = disk_cache(path);
    for (std::uint64_t i = 0; i < 20; ++i) keep_on_disk(*stage, i);
    CHECK(count_right(*stage, 20) == 20);
    CHECK(stage->use().samples == 20);
    CHECK_FALSE(stage->use().full);
  }
  const auto again = disk_cache(path);
  CHECK(count_right(*again, 20) == 20);
  CHECK(served(*again, 20) == Served::absent);
  keep_on_disk(*again, 5);
  CHECK(again->use().samples == 20);
}

TEST_CASE("what other stages gave is refused, with the line that differs") {
  const TemporaryFolder folder;
  disk_cache(folder.path(), kLimit, "none", "read [] path=a\nresize [] size=224\n");
  CHECK_NOTHROW(disk_cache(folder.path(), kLimit, "none", "read [] path=a\nresize [] size=224\n"));
  const std::string message = usage_error([&] {
    static_cast<void>(
        disk_cache(folder.path(), kLimit, "none", "read [] path=a\nresize [] size=256\n"));
  });
  CHECK(has(message, "holds samples of resize [] size=224"));
  CHECK(has(message, "these are of resize [] size=256"));
  CHECK(has(message, "remove the folder"));
}

TEST_CASE("the limit holds, for what stays and for what goes") {
  constexpr std::uint64_t kSamples = 1500;
  for (const char* const evict : {"none", "fifo", "lru"}) {
    CAPTURE(evict);
    const TemporaryFolder folder;
    const auto stage = disk_cache(folder.path(), 20e6, evict);
    for (std::uint64_t i = 0; i < kSamples; ++i) {
      keep_on_disk(*stage, i);
      if (i % 100 != 0) continue;
      std::uintmax_t bytes = 0;
      for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        if (!has(entry.path().filename().string(), "-shm")) bytes += entry.file_size();
      }
      CHECK(static_cast<double>(bytes) <= 1.01 * 20e6);
    }
    CHECK(stage->use().full);
    CHECK(stage->use().samples > 500);
    const bool keeps_first = std::string(evict) == "none";
    CHECK(served(*stage, 0) == (keeps_first ? Served::right : Served::absent));
    CHECK(served(*stage, kSamples - 1) == (keeps_first ? Served::absent : Served::right));
  }
}

TEST_CASE("with lru, what is asked for stays") {
  const TemporaryFolder folder;
  const auto stage = disk_cache(folder.path(), 20e6, "lru");
  for (std::uint64_t i = 0; i < 1500; ++i) {
    keep_on_disk(*stage, i);
    static_cast<void>(served(*stage, 0));
  }
  CHECK(served(*stage, 0) == Served::right);
  CHECK(served(*stage, 1) == Served::absent);
}

TEST_CASE("a sample that takes too large a part of the limit is not kept") {
  const TemporaryFolder folder;
  const auto stage = disk_cache(folder.path(), 20e6);
  keep_on_disk(*stage, 0, 4'000'000);
  CHECK(served(*stage, 0, 4'000'000) == Served::absent);
  keep_on_disk(*stage, 1, 1'000'000);
  CHECK(served(*stage, 1, 1'000'000) == Served::right);
}

TEST_CASE("several threads and processes use one file") {
  const TemporaryFolder folder;
  const auto stage = disk_cache(folder.path());
  const int status = status_of_child([&] {
    const auto own = disk_cache(folder.path());
    for (std::uint64_t i = 0; i < 200; ++i) keep_on_disk(*own, i);
  });
  CHECK(status == 0);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&stage, t] {
      for (std::uint64_t i = 200 + t; i < 400; i += 4) keep_on_disk(*stage, i);
      for (std::uint64_t i = 0; i < 200; ++i) static_cast<void>(served(*stage, i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count_right(*stage, 400) == 400);
}

TEST_CASE("a process that is killed while it fills leaves whole samples") {
  const TemporaryFolder folder;
  const auto watcher = disk_cache(folder.path());
  for (const std::uint64_t wanted : {20U, 60U, 150U}) {
    const pid_t child = fork();
    if (child == 0) {
      const auto own = disk_cache(folder.path());
      for (std::uint64_t i = 0;; ++i) keep_on_disk(*own, i % 500);
    }
    while (watcher->use().samples < wanted) std::this_thread::yield();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const auto after = disk_cache(folder.path());
    CHECK(count_right(*after, 500) >= static_cast<int>(wanted));
    keep_on_disk(*after, 499);
    CHECK(served(*after, 499) == Served::right);
  }
}

TEST_CASE("flipped bytes never give a wrong sample") {
  const TemporaryFolder folder;
  fill_hundred(folder.path());
  const auto size = std::filesystem::file_size(file_of(folder.path()));
  CHECK(right_after(folder.path(), [](const std::string&) {}) == 100);
  RandomStream random({.seed = 7});
  int right = 0;
  const int files = kIsSanitized ? 50 : 100;
  for (int i = 0; i < files; ++i) {
    right += right_after(folder.path(), [&](const std::string& file) {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      const auto at =
          static_cast<std::streamoff>(i < 20 ? i : static_cast<int>(random.next_u64() % size));
      stream.seekg(at);
      const auto byte = static_cast<char>(stream.get() ^ 0x41);
      stream.seekp(at);
      stream.put(byte);
    });
  }
  CHECK(right > files * 50);  // One sample of a hundred, mostly.
}

TEST_CASE("a file that was cut never gives a wrong sample") {
  const TemporaryFolder folder;
  fill_hundred(folder.path());
  const auto size = std::filesystem::file_size(file_of(folder.path()));
  const int files = kIsSanitized ? 10 : 30;
  for (int i = 0; i < files; ++i) {
    static_cast<void>(right_after(folder.path(), [&](const std::string& file) {
      const auto part = static_cast<std::uintmax_t>(i);
      std::filesystem::resize_file(file, part * size / static_cast<std::uintmax_t>(files));
    }));
  }
}

TEST_CASE("a file that cannot grow ends in an error, and what is there stays") {
  const TemporaryFolder folder;
  {
    const auto stage = disk_cache(folder.path());
    for (std::uint64_t i = 0; i < 10; ++i) keep_on_disk(*stage, i);
  }
  const int status = status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{700'000, 700'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      const auto stage = disk_cache(folder.path());
      for (std::uint64_t i = 10; i < 200; ++i) keep_on_disk(*stage, i);
    } catch (const Error&) {
      _exit(0);
    } catch (...) {
      _exit(3);
    }
  });
  CHECK(status == 0);
  const auto after = disk_cache(folder.path());
  CHECK(count_right(*after, 200) >= 10);
  keep_on_disk(*after, 199);
  CHECK(served(*after, 199) == Served::right);
}

TEST_CASE("a folder that cannot be used is refused, and so is too small a limit") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", std::string("no folder"));
  CHECK(has(usage_error([&] { static_cast<void>(disk_cache(file)); }), file));
  CHECK(has(usage_error([&] { static_cast<void>(disk_cache(folder.path(), 1e6)); }), "0.017"));
  const std::string other = folder.path("other");
  std::filesystem::create_directory(other);
  folder.write("other/cache.sqlite", std::string(8192, 'x'));
  CHECK(has(usage_error([&] { static_cast<void>(disk_cache(other)); }), "cannot be opened"));
  CHECK(std::filesystem::file_size(file_of(other)) == 8192);
}

TEST_CASE("a pipeline fills its cache once, and a changed one is refused") {
  const TemporaryFolder folder;
  const auto pipeline = [&](int bytes) {
    return Pipeline::from_json(R"({"batch_size": 8, "stages": [
        {"use": "synthetic.read", "samples": 64, "bytes": )" +
                                   std::to_string(bytes) + R"(},
        {"use": "cache.disk", "path": ")" +
                                   folder.path() + R"(", "limit_gb": 0.02},
        {"use": "collate.stack"}, {"use": "copy.device"}],
        "train": {"kind": "emulated"}, "device": "emulated"})",
                               all_stages());
  };
  const auto use_of = [](const Pipeline& made) {
    return static_cast<const CacheStage&>(*made.stages()[1].stage).use();
  };
  const auto device = make_cpu_device();
  {
    const Pipeline first = pipeline(256);
    CHECK(use_of(first).samples == 0);
    fill_cache_stages(first, *device, {});
    CHECK(use_of(first).samples == 64);
  }
  CHECK(use_of(pipeline(256)).samples == 64);
  const std::string message = usage_error([&] { static_cast<void>(pipeline(512)); });
  CHECK(has(message, "bytes=256"));
  CHECK(has(message, "bytes=512"));
}
#endif
