// What a text for a terminal is laid out for.
#pragma once

namespace cachebisect {

struct TextOptions {
  bool color = false;
  int columns = 80;      ///< of the terminal
  bool unicode = false;  ///< bars and marks beyond ASCII
  bool explain = false;  ///< what each number means, after the report
};

}  // namespace cachebisect
