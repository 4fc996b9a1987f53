// Expected texts, kept in tests/golden.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "support/files.hpp"
#include <doctest/doctest.h>

#include "cachebisect/format/text_layout.hpp"

namespace cachebisect::test {

/// Compares `text` with the golden file. CACHEBISECT_UPDATE_GOLDEN=1 rewrites the file first.
inline void check_golden_file(const std::string& name, const std::string& text) {
  const std::string path = CACHEBISECT_SOURCE_DIR "/tests/golden/" + name;
  if (std::getenv("CACHEBISECT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  CHECK(text == read_file(path));
}

/// Also checks that it fits a terminal of these columns.
inline void check_golden(const std::string& name, const std::string& text,
                         std::size_t columns = 80) {
  check_golden_file(name, text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= columns);
}

}  // namespace cachebisect::test
