#include "bench/habits/stages/register.hpp"

namespace cachebisect::habits {

void register_habits(Registry& registry) {
  register_cost_stages(registry);
  register_memory_stages(registry);
  register_sources(registry);
  register_heavy_stages(registry);
  register_thread_stages(registry);
  register_batch_wait(registry);
}

}  // namespace cachebisect::habits
