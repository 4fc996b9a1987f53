#include "cachebisect/doctor/object_list.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/text_file.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMostListBytes = 16'000'000;
constexpr std::size_t kMostUrlBytes = 8000;

void add_url(const std::string& url, const std::string& where, std::vector<std::string>& urls) {
  const bool is_http = url.starts_with("http://") || url.starts_with("https://");
  const bool is_clean =
      std::ranges::none_of(url, [](unsigned char c) { return std::iscntrl(c) != 0 || c == ' '; });
  if (!is_http || !is_clean || url.size() > kMostUrlBytes) {
    throw Error(ErrorKind::usage,
                where + ": " + quote(url) +
                    " is no URL of an object; give one such as https://host/bucket/file (of S3: a "
                    "presigned one)");
  }
  urls.push_back(url);
}

void add_lines(const std::string& file, std::vector<std::string>& urls) {
  const std::string text = read_text_file(file, kMostListBytes, "a list of URLs, one per line");
  if (text.size() > kMostListBytes) {
    throw Error(ErrorKind::usage, file + ": is longer than 16 MB; give fewer URLs");
  }
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    add_url(line, file + ":" + std::to_string(number), urls);
  }
}

}  // namespace

std::vector<std::string> list_objects(const std::vector<std::string>& named) {
  std::vector<std::string> urls;
  for (const std::string& name : named) {
    if (name.starts_with('@')) {
      add_lines(name.substr(1), urls);
    } else {
      add_url(name, "--url", urls);
    }
  }
  if (urls.empty() && !named.empty()) {
    throw Error(ErrorKind::usage, "--url: " + quote(named.front()) + " has no URLs");
  }
  return urls;
}

}  // namespace cachebisect
