// Searching in messages and outputs.
#pragma once

#include <string_view>

namespace cachebisect::test {

/// Whether `part` occurs in `text`.
inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace cachebisect::test
