// The stages of the plugin, by source.
#pragma once

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::habits {

void register_cost_stages(Registry& registry);
void register_memory_stages(Registry& registry);
void register_sources(Registry& registry);
void register_heavy_stages(Registry& registry);
void register_thread_stages(Registry& registry);
void register_batch_wait(Registry& registry);

/// All of the above.
void register_habits(Registry& registry);

}  // namespace cachebisect::habits
