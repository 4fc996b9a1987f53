// Parts of the table by action that profiles of pipelines and scripts have in common.
#pragma once

#include "cachebisect/profile/profile.hpp"

namespace cachebisect::profile {

/// Without actions. `workers`: 0 if the training thread loads; `seconds`: of each of them.
[[nodiscard]] ActionGroup group_of_loading(int workers, double seconds);
/// Adds what is left of the time of the group.
void add_rest(ActionGroup& group, const char* name);

}  // namespace cachebisect::profile
