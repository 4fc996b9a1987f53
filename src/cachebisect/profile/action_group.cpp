#include "cachebisect/profile/action_group.hpp"

#include <algorithm>
#include <string>

namespace cachebisect::profile {

ActionGroup group_of_loading(int workers, double seconds) {
  if (workers == 0) return {"within load", seconds, {}};
  return {workers == 1 ? "worker" : std::to_string(workers) + " workers", seconds * workers, {}};
}

void add_rest(ActionGroup& group, const char* name) {
  double sum = 0;
  for (const Action& action : group.actions) sum += action.seconds;
  group.actions.push_back({name, 0, std::max(0.0, group.seconds - sum)});
}

}  // namespace cachebisect::profile
