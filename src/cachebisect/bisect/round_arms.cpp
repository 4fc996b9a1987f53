#include "cachebisect/bisect/round_arms.hpp"

#include "cachebisect/base/shuffle.hpp"

namespace cachebisect {
namespace {

constexpr double kNullShare = 0.1;

}  // namespace

std::vector<Arm> RoundArms::draw(const std::vector<int>& boundaries, RandomStream& random) {
  std::vector<Arm> arms;
  arms.reserve(boundaries.size() + 1);
  for (const int k : boundaries) arms.push_back({.boundary = k});
  null_debt_ += kNullShare * static_cast<double>(arms.size());
  if (null_debt_ >= 1) {
    const Arm null{.kind = ArmKind::null, .boundary = arms[random.below(arms.size())].boundary};
    null_debt_ -= 1;
    if (replayer_->supports(null)) arms.push_back(null);
  }
  shuffle(arms, random);
  return arms;
}

}  // namespace cachebisect
