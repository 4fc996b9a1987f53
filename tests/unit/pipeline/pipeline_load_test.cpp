// Pipeline files on disk.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/files.hpp"
#include "support/spec_errors.hpp"
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace cachebisect;
using namespace cachebisect::test;
namespace fs = std::filesystem;

namespace {

std::string load_error(const std::string& file) {
  return usage_error([&] { (void)load_pipeline(file, fake_registry()); });
}

}  // namespace

TEST_CASE("a file is loaded with its digest, and its paths are relative to its folder") {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", kFakePipeline);
  const PipelineSpec spec = load_pipeline(file, fake_registry(), {{"batch_size", "8"}});
  CHECK(spec.file == file);
  CHECK(spec.sha256.size() == 64);
  CHECK(spec.batch_size == 8);
  CHECK(spec.stages[0].params.string("path") == folder.path("data"));

  const fs::path before = fs::current_path();
  fs::current_path(fs::path(file).parent_path());
  const PipelineSpec bare = load_pipeline("p.json", fake_registry(), {{"batch_size", "8"}});
  fs::current_path(before);
  CHECK(bare.stages == spec.stages);
  CHECK(bare.sha256 == spec.sha256);
}

TEST_CASE("an unreadable file is refused with the reason, without waiting") {
  const TemporaryFolder folder;
  CHECK(load_error(folder.path("none.json")) ==
        folder.path("none.json") +
            ": cannot be opened: No such file or directory; give the path of a pipeline file");
  CHECK(has(load_error(folder.path()), "is a folder"));
  CHECK(has(load_error(""), "is not a path"));
  REQUIRE(mkfifo(folder.path("fifo").c_str(), 0600) == 0);
  CHECK(
      has(load_error(folder.path("fifo")), "is not a regular file; give - to read standard input"));
  CHECK(has(load_error("/dev/zero"), "is not a regular file"));
  CHECK(has(load_error(folder.write("empty.json", "")), "empty.json: empty"));
  CHECK(
      has(load_error(folder.write("huge.json", std::string(5U << 20U, ' '))), "larger than 4 MiB"));
  CHECK(has(load_error(folder.write("bad.json", "{\n]")), "bad.json:2:1: not JSON"));
  fs::create_symlink(folder.path("loop"), folder.path("loop"));
  CHECK(has(load_error(folder.path("loop")), "cannot be opened"));
  const std::string locked = folder.write("locked.json", kFakePipeline);
  fs::permissions(locked, fs::perms::none);
  if (geteuid() != 0) CHECK(has(load_error(locked), "Permission denied"));
}

TEST_CASE("the cache folder follows XDG") {
  REQUIRE(setenv("HOME", "/home/x", 1) == 0);
  REQUIRE(setenv("XDG_CACHE_HOME", "/xdg", 1) == 0);
  CHECK(default_cache_folder() == "/xdg/cachebisect");
  REQUIRE(setenv("XDG_CACHE_HOME", "relative", 1) == 0);
  CHECK(default_cache_folder() == "/home/x/.cache/cachebisect");
  REQUIRE(unsetenv("XDG_CACHE_HOME") == 0);
  CHECK(default_cache_folder() == "/home/x/.cache/cachebisect");
  REQUIRE(unsetenv("HOME") == 0);
  CHECK(default_cache_folder().empty());
}
