// How wide a text is on a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

#include "cachebisect/format/text_layout.hpp"

namespace cachebisect::test {

/// Columns; line ends of a terminal (CR LF) count as those of a file.
inline std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    widest = std::max(widest, display_width(line));
  }
  return widest;
}

/// The text without the sequences that set colours.
inline std::string without_colors(std::string text) {
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  return text;
}

}  // namespace cachebisect::test
