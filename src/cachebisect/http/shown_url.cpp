#include "cachebisect/http/shown_url.hpp"

#include <algorithm>
#include <cstddef>

#include "cachebisect/base/printable.hpp"

namespace cachebisect {

std::string shown_url(const std::string& url) {
  std::string shown = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme = shown.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(shown.find('/', host), shown.size());
  const std::size_t at = shown.rfind('@', path);
  if (at != std::string::npos && at >= host && at < path) shown.erase(host, at + 1 - host);
  return printable(shown);
}

}  // namespace cachebisect
