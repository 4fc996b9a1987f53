// A file of URLs for `doctor --url`, and how a URL is shown.
#include <vector>

#include "fuzz/fuzz_target.hpp"

#include "cachebisect/base/printable.hpp"
#include "cachebisect/doctor/object_list.hpp"
#include "cachebisect/http/shown_url.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

void check_shown(const std::string& url) {
  const std::string shown = shown_url(url);
  require(shown.find_first_of("?#") == std::string::npos, "a query is not shown");
  require(printable(shown) == shown, "what is shown does not command a terminal");
  const std::size_t host = shown.find("://") + 3;
  const std::string_view server =
      std::string_view(shown).substr(host, shown.find('/', host) - host);
  require(server.find('@') == std::string_view::npos, "a password is not shown");
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(urls)(const std::uint8_t* data, std::size_t size) {
  const std::string path = put_file("urls.txt", bytes_of(data, size));
  takes({ErrorKind::usage}, [&] {
    for (const std::string& url : list_objects({"@" + path})) {
      require(url.starts_with("http://") || url.starts_with("https://"), "a URL is one of HTTP");
      require(url.find_first_of("\r\n") == std::string::npos, "a URL is one line");
      check_shown(url);
    }
  });
  return 0;
}
