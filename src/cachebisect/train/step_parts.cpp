#include "cachebisect/train/step_parts.hpp"

namespace cachebisect {

StepPartObserver::~StepPartObserver() = default;

const char* to_string(StepPart part) noexcept {
  switch (part) {
    case StepPart::forward:
      return "forward";
    case StepPart::backward:
      return "backward";
    case StepPart::optimizer:
      return "optimizer";
  }
  return "unknown";
}

}  // namespace cachebisect
