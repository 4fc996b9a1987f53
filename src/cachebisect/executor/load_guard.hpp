// Halts or suspends an executor at the end of a scope, also after an exception.
#pragma once

#include <exception>

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

/// Lets `loader` go on with `request`, and suspends it at the end of the scope; halts it if an
/// exception ends that.
class LoadTurn {
 public:
  LoadTurn(Executor& loader, const LoadRequest& request)
      : loader_(&loader), exceptions_(std::uncaught_exceptions()) {
    loader.resume(request);
  }
  ~LoadTurn() {
    try {
      if (std::uncaught_exceptions() > exceptions_) {
        loader_->halt();
      } else {
        loader_->suspend();
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch): as LoadGuard
    }
  }
  LoadTurn(const LoadTurn&) = delete;
  LoadTurn& operator=(const LoadTurn&) = delete;

 private:
  Executor* loader_;
  int exceptions_;
};

}  // namespace cachebisect
