// What the training thread spends a step in.
#pragma once

#include <string>

namespace cachebisect {

/// A function that the training loop calls, or a line of the loop.
struct StepFunction {
  std::string name;  ///< of the function, or the line's text
  std::string file;
  int line = 0;
  double share = 0;      ///< of the step's time on the host
  bool movable = false;  ///< a function that calls no part of the model: workers could run it
};

}  // namespace cachebisect
