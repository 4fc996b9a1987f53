// Halts an executor at the end of a scope, also after an exception.
#pragma once

#include "cachebisect/executor/executor.hpp"

namespace cachebisect {

/// Starts `loader` with `request` and halts it at the end of the scope.
class LoadGuard {
 public:
  LoadGuard(Executor& loader, const LoadRequest& request) : loader_(&loader) {
    loader.start(request);
  }
  ~LoadGuard() { loader_->halt(); }
  LoadGuard(const LoadGuard&) = delete;
  LoadGuard& operator=(const LoadGuard&) = delete;

 private:
  Executor* loader_;
};

}  // namespace cachebisect
