// A program that reads its input and writes its output: as in a shell's pipe, but from memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct FilterResult {
  bool ok = false;  ///< it ended by itself, with exit code 0
  std::string output;
  std::string errors;  ///< its standard error
};

/// Runs `words`, found through PATH, with `input` as its standard input. Empty if there is no such
/// program. Killed after `max_seconds`. Throws Error(internal) if the system has no pipes or
/// processes left.
CACHEBISECT_INTERNAL_API std::optional<FilterResult> run_filter(
    const std::vector<std::string>& words, std::string_view input, double max_seconds);

}  // namespace cachebisect
