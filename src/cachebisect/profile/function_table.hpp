// In which functions the stages spend their CPU time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/profile/cpu_sampler.hpp"
#include "cachebisect/profile/cycle.hpp"
#include "cachebisect/profile/operator_table.hpp"
#include "cachebisect/profile/symbols.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect::profile {

/// Sums samples over cycles. Not thread safe.
class CACHEBISECT_INTERNAL_API FunctionSums {
 public:
  /// `period`: of the sampler, in seconds.
  explicit FunctionSums(double period) : period_(period) {}

  /// Samples of `cycle` that fall into a span of one of its workers; all others are left out.
  void add(const Cycle& cycle, std::span<const CpuSample> samples, const ChainDescription& chain);
  /// One row per function and stage; `calls` counts samples.
  [[nodiscard]] std::vector<CallRow> rows() const;

 private:
  struct Sum {
    CallRow row;
    std::map<std::string, std::uint64_t> paths;
  };
  void add_stack(const std::string& where, const CpuSample& sample);

  double period_;
  Symbols symbols_;
  std::map<std::pair<std::string, std::string>, Sum> sums_;
};

}  // namespace cachebisect::profile
