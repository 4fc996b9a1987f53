#include "cachebisect/bisect/record/check_settings.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect {

void check_settings(const BisectSettings& settings) {
  const auto refuse = [](const char* what) { throw Error(ErrorKind::usage, what); };
  if (!(settings.confidence >= 0.5) || settings.confidence > 0.999999) {
    refuse("the confidence must lie in [0.5, 0.999999]");
  }
  if (!(settings.min_drop > 0) || settings.min_drop > 0.9) {
    refuse("min_drop must be above 0 and at most 0.9");
  }
}

}  // namespace cachebisect
