// How often each operator ran in the steps, how long it took, and what called it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/profile/cycle.hpp"

namespace cachebisect::profile {

/// A function or operator, over all cycles.
struct CallRow {
  std::string where;  ///< the stage, or the part of the step
  std::string name;
  std::string path;  ///< what called it most of the time: "outermost > ... > caller"
  std::uint64_t calls = 0;
  double total_seconds = 0;  ///< what it called included
  double self_seconds = 0;
};

enum class CallOrder { total, self, mean, calls };
/// Empty for any other text.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<CallOrder> parse_call_order(
    std::string_view text);
/// The largest first.
CACHEBISECT_INTERNAL_API void sort_rows(std::vector<CallRow>& rows, CallOrder order);

/// One row per operator and part of the step, from the traces of LibTorch's profiler.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<CallRow> operator_rows(
    const std::vector<Cycle>& cycles);

}  // namespace cachebisect::profile
