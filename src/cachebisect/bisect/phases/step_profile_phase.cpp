#include "cachebisect/bisect/phases/step_profile_phase.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/phases/sustain_phase.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Samples are taken every millisecond: so many tell shares to a few percent.
constexpr double kProfileSeconds = 0.5;

}  // namespace

void profile_step(Replayer& replayer, const RoundPlan& plan, const std::stop_token& stop,
                  Measurements& measured) {
  const int ceiling = measured.stages();
  const double step = std::max(plan.step_seconds(ceiling), 1e-6);
  const int group = plan.lengths().whole_steps(
      static_cast<int>(std::ceil(kProfileSeconds / step / kMinGroups)), ceiling);
  BlockRequest request{.arm = {.boundary = ceiling, .observed = false},
                       .steps = kMinGroups * group};
  request.warmup_steps = plan.lengths().warmup(ceiling);
  request.groups = kMinGroups;
  request.max_seconds = kExtraSeconds;  // if steps are slow, fewer of them are run
  request.profile = true;
  replayer.begin_round();
  // A block may fall into a validation.
  for (int i = 0; i < kMaxTries; ++i) {
    const BlockResult block = replayer.run(request, stop);
    if (block.is_void) continue;
    measured.step_functions = block.step_functions;
    return;
  }
}

}  // namespace cachebisect
