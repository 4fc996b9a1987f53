// Texts that are kept beside the tests: what came out must be what is there.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

namespace cachebisect::testing {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// CACHEBISECT_UPDATE_GOLDEN=1 writes what came out in place of comparing.
inline void check_golden(const std::string& name, const std::string& text) {
  const std::string path = CACHEBISECT_SOURCE_DIR "/tests/golden/" + name;
  if (std::getenv("CACHEBISECT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  CHECK(text == read_file(path));
}

}  // namespace cachebisect::testing
