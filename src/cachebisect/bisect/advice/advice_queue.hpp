// A longer queue of batches, where samples differ so much in cost that the queue runs empty.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"

namespace cachebisect {

/// Four times as many batches ahead, where live is slower than the same costs are with queues of
/// any length. What this gains is not predicted: it depends on how slow the slowest samples are.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Proposal> longer_queue(
    const ChainDescription& chain, const Forecast& forecast);

}  // namespace cachebisect
