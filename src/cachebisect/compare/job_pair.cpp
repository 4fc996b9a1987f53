#include "cachebisect/compare/job_pair.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect {

JobPair::~JobPair() = default;

Arm JobPair::other_job() { return {.kind = ArmKind::live, .overrides = {{"job", "\"B\""}}}; }

bool JobPair::supports(const Arm& arm) const { return arm.is_live() || arm == other_job(); }

CacheFacts JobPair::prepare(const CacheBudget& /*budget*/, const std::stop_token& /*stop*/) {
  return {};
}

void JobPair::begin_round() {
  a_->begin_round();
  b_->begin_round();
}

BlockResult JobPair::run(const BlockRequest& request, const std::stop_token& stop) {
  if (!supports(request.arm)) throw Error(ErrorKind::internal, "a pair of jobs runs live alone");
  BlockRequest live = request;
  live.arm = Arm{};
  return (request.arm.is_live() ? a_ : b_)->run(live, stop);
}

}  // namespace cachebisect
