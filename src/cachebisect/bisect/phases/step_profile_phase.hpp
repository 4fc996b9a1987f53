// Finds out what the host spends a training step in.
#pragma once

#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/round_plan.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Fills Measurements::step_functions by a block at the ceiling that is no part of any figure; it
/// stays empty if the replayer cannot tell. Throws as Replayer::run.
CACHEBISECT_INTERNAL_API void profile_step(Replayer& replayer, const RoundPlan& plan,
                                           const std::stop_token& stop, Measurements& measured);

}  // namespace cachebisect
