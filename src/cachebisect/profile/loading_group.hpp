// What the DataLoader of a profiled script did, as actions, stages and spans.
#pragma once

#include <vector>

#include "cachebisect/observe/script_loading.hpp"
#include "cachebisect/profile/profile.hpp"

namespace cachebisect::profile {

/// As stages of a chain: the dataset, then collate_fn.
[[nodiscard]] std::vector<StageDescription> loading_stages();
/// Dataset, collate_fn and the rest. `workers`: 0 if the training thread loads, for `load_seconds`.
[[nodiscard]] ActionGroup loading_group(const ScriptLoading& loading, int workers,
                                        double load_seconds);
/// What the workers did, on the clock of `cycle`.
void add_loading(Cycle& cycle, const ScriptLoading& loading);

}  // namespace cachebisect::profile
