#include "cachebisect/replay/loop/loop_observer.hpp"

namespace cachebisect {

LoopObserver::~LoopObserver() = default;

}  // namespace cachebisect
