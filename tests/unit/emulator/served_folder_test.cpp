// Only the files below the folder are served, whatever is asked for.
#include "cachebisect/emulator/served_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/stat.h>

using namespace cachebisect;
using test::has;
using test::TemporaryFolder;
namespace fs = std::filesystem;

TEST_CASE("files below the folder are found, with size, tag and time") {
  const TemporaryFolder data;
  data.write("a/b.bin", std::string(10, 'x'));
  data.write(".hidden", std::string("y"));
  const ServedFolder folder(data.path());
  const auto file = folder.open("/a/b.bin");
  REQUIRE(file.has_value());
  CHECK(file->bytes == 10);
  CHECK(has(file->modified, " GMT"));
  CHECK(folder.open("//a//./b.bin")->etag == file->etag);
  CHECK(folder.open("/.hidden").has_value());
  data.write("a/b.bin", std::string(11, 'x'));
  CHECK(folder.open("/a/b.bin")->etag != file->etag);
}

TEST_CASE("nothing outside is served") {
  const TemporaryFolder data;
  const TemporaryFolder outside;
  outside.write("secret", std::string("s"));
  data.write("inside", std::string("i"));
  data.write("folder/inside", std::string("i"));
  fs::create_symlink(outside.path("secret"), data.path("link"));
  fs::create_symlink(outside.path(), data.path("linked"));
  fs::create_symlink("../" + fs::path(outside.path()).filename().string(), data.path("relative"));
  fs::create_symlink("inside", data.path("own_link"));
  fs::create_symlink("nowhere", data.path("broken"));
  fs::create_symlink("loop", data.path("loop"));
  // A folder next to it, whose name begins with that of the folder.
  fs::create_directory(data.path() + "-other");
  fs::create_symlink(data.path() + "-other/file", data.path("other"));
  std::ofstream(data.path() + "-other/file") << "b";
  const ServedFolder folder(data.path());
  CHECK(folder.open("/own_link").has_value());
  const std::string up = "/../" + fs::path(outside.path()).filename().string() + "/secret";
  const std::vector<std::string> outsiders{std::string("/link"),
                                           std::string("/linked/secret"),
                                           std::string("/relative/secret"),
                                           up,
                                           "/folder/../.." + up,
                                           "/folder/../inside",
                                           std::string("/.."),
                                           std::string("/../../etc/passwd"),
                                           std::string("/etc/passwd"),
                                           outside.path("secret"),
                                           "/" + outside.path("secret"),
                                           std::string("inside"),
                                           std::string(""),
                                           std::string("/"),
                                           std::string("/folder"),
                                           std::string("/folder/"),
                                           std::string("/inside/"),
                                           std::string("/inside/x"),
                                           std::string("/broken"),
                                           std::string("/loop"),
                                           std::string("/other"),
                                           std::string("/inside\0x", 9),
                                           std::string("/inside\0", 8),
                                           std::string("/%2e%2e/inside"),
                                           std::string("/..\\inside"),
                                           "/" + std::string(100'000, 'a'),
                                           "/" + std::string(300, 'a')};
  for (const std::string& path : outsiders) {
    CAPTURE(path);
    CHECK_FALSE(folder.open(path).has_value());
  }
  fs::remove_all(data.path() + "-other");
}

TEST_CASE("what is no regular file is not opened, so that nothing waits for it") {
  const TemporaryFolder data;
  REQUIRE(::mkfifo(data.path("fifo").c_str(), 0600) == 0);
  fs::create_symlink("/dev/zero", data.path("device"));
  const ServedFolder folder(data.path());
  CHECK_FALSE(folder.open("/fifo").has_value());
  CHECK_FALSE(folder.open("/device").has_value());
}

TEST_CASE("a folder that cannot be served is refused with its name") {
  const TemporaryFolder data;
  data.write("file", std::string("x"));
  CHECK(has(test::usage_error([&] { const ServedFolder folder(data.path("none")); }), "none"));
  CHECK(has(test::usage_error([&] { const ServedFolder folder(data.path("file")); }), "file"));
}

TEST_CASE("dates are those of RFC 9110") {
  CHECK(http_date(784'111'777) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(http_date(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(http_date(std::int64_t{1} << 62U) == http_date(0));
}
