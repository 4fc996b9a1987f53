// The answer to one what-if.
#pragma once

#include <string>

#include "cachebisect/base/estimate.hpp"

namespace cachebisect {

/// A hypothetical change, predicted by the cost model and, if asked for and possible, run.
struct WhatIfResult {
  std::string change;  ///< as the user wrote it: "workers=4", "crop=free", "decode/2"
  Estimate predicted;  ///< samples/s
  Estimate measured;   ///< samples/s
  std::string note;    ///< why a figure is missing, or what it assumes; may be empty
  std::string line{};  ///< of Python that makes the change; empty if there is none

  void add_note(const std::string& text) { note += (note.empty() ? "" : "; ") + text; }
};

}  // namespace cachebisect
