// Paths of requests to the storage emulator: nothing outside its folder is ever opened.
#include <array>

#include "fuzz/fuzz_target.hpp"
#include <unistd.h>

#include "cachebisect/emulator/served_folder.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;
namespace fs = std::filesystem;

namespace {

const std::string kServed = "served";

const ServedFolder& served() {
  static const ServedFolder folder = [] {
    scratch().write(kServed + "/a", std::string("inside"));
    scratch().write(kServed + "/b/c", std::string("inside"));
    scratch().write("secret", std::string("outside"));
    scratch().write(kServed + "-other/a", std::string("outside"));
    fs::create_symlink("../secret", scratch().path(kServed + "/out"));
    fs::create_symlink("..", scratch().path(kServed + "/up"));
    fs::create_symlink("/", scratch().path(kServed + "/root"));
    fs::create_symlink("b/c", scratch().path(kServed + "/in"));
    return ServedFolder(scratch().path(kServed));
  }();
  return folder;
}

void check_path(std::string_view path) {
  const auto file = served().open(path);
  if (!file) return;
  std::array<char, 16> content{};
  const ssize_t bytes = ::pread(file->file.get(), content.data(), content.size(), 0);
  require(bytes == 6 && std::string_view(content.data(), 6) == "inside",
          "what is served lies in the folder");
  require(file->bytes == 6 && !file->etag.empty(), "what is served is described");
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(served_path)(const std::uint8_t* data, std::size_t size) {
  const std::string path(text_of(data, size));
  check_path(path);
  check_path("/" + path);
  check_path("/up/" + path);
  check_path("/root" + scratch().path() + "/" + path);
  return 0;
}
