// Halts an executor at the end of a scope, also after an exception.
#pragma once

#include "cachebisect/executor/executor.hpp"

namespace cachebisect {

/// Starts `loader` with `request` and halts it at the end of the scope. A device that fails while
/// it is halted fails again when it is used next, so that error is not lost.
class LoadGuard {
 public:
  LoadGuard(Executor& loader, const LoadRequest& request) : loader_(&loader) {
    loader.start(request);
  }
  ~LoadGuard() {
    try {
      loader_->halt();
    } catch (...) {  // NOLINT(bugprone-empty-catch): another error may be on its way out
    }
  }
  LoadGuard(const LoadGuard&) = delete;
  LoadGuard& operator=(const LoadGuard&) = delete;

 private:
  Executor* loader_;
};

}  // namespace cachebisect
