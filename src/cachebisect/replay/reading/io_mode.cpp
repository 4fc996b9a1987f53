#include "cachebisect/replay/reading/io_mode.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect {

IoMode io_mode_of(const std::string& name) {
  if (name == "as-is") return IoMode::as_is;
  if (name == "warm") return IoMode::warm;
  if (name == "cold") return IoMode::cold;
  throw Error(ErrorKind::usage, "io \"" + name + "\" is not known; use as-is, warm or cold");
}

}  // namespace cachebisect
