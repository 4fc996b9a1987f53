#include "cachebisect/bisect/phases/round_arms.hpp"

#include <algorithm>

namespace cachebisect {
std::vector<Arm> RoundArms::draw(const std::vector<int>& boundaries, bool live_twice,
                                 RandomStream& random) {
  std::vector<Arm> arms;
  arms.reserve(boundaries.size() + 1);
  for (const int k : boundaries) arms.push_back({.boundary = k});
  null_debt_ += kNullShare * static_cast<double>(arms.size());
  if (live_twice || null_debt_ >= 1) {
    const int boundary = live_twice ? 0 : arms[random.below(arms.size())].boundary;
    const Arm null{.kind = ArmKind::null, .boundary = boundary};
    null_debt_ = std::max(0.0, null_debt_ - 1);
    if (replayer_->supports(null)) arms.push_back(null);
  }
  return arms;
}

}  // namespace cachebisect
