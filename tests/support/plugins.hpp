// The plugins of tests/plugins.
#pragma once

#include <string>

namespace cachebisect::test {

/// The path of the library that tests/plugins/NAME.cpp becomes.
inline std::string test_plugin(const std::string& name) {
  return CACHEBISECT_BINARY_DIR "/tests/plugins/lib" + name + ".so";
}

}  // namespace cachebisect::test
