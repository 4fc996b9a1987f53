#include "cachebisect/data/content_difference.hpp"

#include <algorithm>

namespace cachebisect {

std::string content_difference(const std::string& held, const std::string& wanted) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < std::min(held.size(), wanted.size()) && held[i] == wanted[i]; ++i) {
    if (held[i] == '\n') begin = i + 1;
  }
  const auto line = [begin](const std::string& text) {
    return begin < text.size() ? text.substr(begin, text.find('\n', begin) - begin) : "nothing";
  };
  return "holds samples of " + line(held) + ", and these are of " + line(wanted);
}

}  // namespace cachebisect
