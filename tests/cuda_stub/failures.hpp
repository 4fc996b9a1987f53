// Counts calls, and lets the chosen ones fail.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_stub/machine.hpp"

namespace cuda_stub {

class Failures {
 public:
  /// The failing calls are counted from now on.
  void add(const Failure& failure) {
    planned_.push_back({failure, calls(failure.function) + failure.call});
  }

  /// Counts a call of `function`; the error that it returns at once, or cudaSuccess.
  cudaError_t count(std::string_view function) {
    const int call = ++calls_[std::string(function)];
    for (const Planned& planned : planned_) {
      if (planned.failure.function != function || planned.call != call) continue;
      if (planned.failure.sticky || function == "work") lost_ = planned.failure.error;
      return planned.failure.error;
    }
    return lost_;
  }

  /// The error by which the device was lost, or cudaSuccess.
  [[nodiscard]] cudaError_t lost() const noexcept { return lost_; }
  [[nodiscard]] int calls(std::string_view function) const {
    const auto found = calls_.find(std::string(function));
    return found == calls_.end() ? 0 : found->second;
  }
  [[nodiscard]] const std::map<std::string, int>& all_calls() const noexcept { return calls_; }

 private:
  struct Planned {
    Failure failure;
    int call = 0;
  };
  std::vector<Planned> planned_;
  std::map<std::string, int> calls_;
  cudaError_t lost_ = cudaSuccess;
};

}  // namespace cuda_stub
