// Halts an executor when a scope ends, however it ends.
#pragma once

#include "cachebisect/executor/executor.hpp"

namespace cachebisect {

/// Starts `loader` with `plan` and halts it at the end of the scope.
class LoadGuard {
 public:
  LoadGuard(Executor& loader, const LoadPlan& plan) : loader_(&loader) { loader.start(plan); }
  ~LoadGuard() { loader_->halt(); }
  LoadGuard(const LoadGuard&) = delete;
  LoadGuard& operator=(const LoadGuard&) = delete;

 private:
  Executor* loader_;
};

}  // namespace cachebisect
