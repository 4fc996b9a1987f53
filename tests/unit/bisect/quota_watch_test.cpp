#include "cachebisect/bisect/record/quota_watch.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

constexpr double kQuotaCpus = 1.5;

MachineReading throttled_so_far(double periods) {
  MachineReading reading;
  reading.quota_periods = 100;
  reading.throttled_periods = periods;
  reading.quota_period_seconds = 0.1;
  reading.quota_cpus = kQuotaCpus;
  return reading;
}

BlockResult block_using(double cpus) {
  BlockResult block;
  block.seconds = 0.5;
  block.cpu_seconds = 0.5 * cpus;
  return block;
}

/// A watch that has seen the quota run out.
QuotaWatch after_exhaustion() {
  QuotaWatch watch;
  watch.skip(throttled_so_far(0));
  (void)watch.disturbed(block_using(kQuotaCpus), throttled_so_far(4));
  return watch;
}

/// Steps of 2 ms, one sample each, that stand still for 50 ms after every 25th; the first of them
/// is step `first` of its period.
BlockResult throttled_block(int steps, int first) {
  BlockResult block;
  block.steps = steps;
  block.samples = static_cast<std::uint64_t>(steps);
  for (int i = 0; i < steps; ++i) {
    const bool stands = (first + i) % 25 == 0;
    block.group_taus.push_back(0.002 + (stands ? 0.05 : 0));
    block.seconds += block.group_taus.back();
  }
  return block;
}

}  // namespace

TEST_CASE("without a quota no block is disturbed") {
  QuotaWatch watch;
  watch.skip({});
  CHECK_FALSE(watch.has_quota());
  CHECK_FALSE(watch.disturbed(block_using(1), {}));
  CHECK(watch.period_seconds() == 0);
}

TEST_CASE("a quota counts once it has run out, or a block comes near it") {
  QuotaWatch watch;
  watch.skip(throttled_so_far(7));
  CHECK(watch.has_quota());
  CHECK_FALSE(watch.disturbed(block_using(1.1), throttled_so_far(7)));
  CHECK(watch.period_seconds() == 0);
  QuotaWatch runs_out = watch;
  CHECK_FALSE(runs_out.disturbed(block_using(1.1), throttled_so_far(8)));
  CHECK(runs_out.period_seconds() == 0.1);
  // A short block between cheaper ones profits from what they leave of a period.
  QuotaWatch near = watch;
  CHECK_FALSE(near.disturbed(block_using(1.3), throttled_so_far(7)));
  CHECK(near.period_seconds() == 0.1);
}

TEST_CASE("a block below the quota in which it runs out is disturbed") {
  QuotaWatch watch = after_exhaustion();
  CHECK(watch.disturbed(block_using(0.5), throttled_so_far(6)));
  // The block before it used up the first period.
  CHECK_FALSE(watch.disturbed(block_using(0.5), throttled_so_far(7)));
  CHECK_FALSE(watch.disturbed(block_using(kQuotaCpus), throttled_so_far(12)));
  // What blocks use is not known to every replayer.
  CHECK_FALSE(watch.disturbed(block_using(0), throttled_so_far(20)));
}

TEST_CASE("blocks are timed in groups only once the quota has run out") {
  BlockRequest request{.steps = 250};
  QuotaWatch().prepare(request);
  CHECK(request.groups == 1);
  after_exhaustion().prepare(request);
  CHECK(request.groups == 83);
}

TEST_CASE("a block that is throttled takes as long wherever in a period it begins") {
  const QuotaWatch watch = after_exhaustion();
  for (int first = 0; first < 25; ++first) {
    CAPTURE(first);
    BlockResult block = throttled_block(60, first);
    watch.settle(block, false);
    // 25 samples in each period, and less than one in part.
    CHECK(block.seconds / static_cast<double>(block.samples) ==
          doctest::Approx(0.004).epsilon(0.02));
    CHECK(block.group_taus.empty());
  }
}

TEST_CASE("groups of a run in one piece are periods") {
  BlockResult run = throttled_block(130, 7);
  after_exhaustion().settle(run, true);
  CHECK(run.group_taus.size() >= 5);
  for (const double tau : run.group_taus) CHECK(tau == doctest::Approx(0.004).epsilon(0.05));
}

TEST_CASE("a block that is shorter than a period stays as it is") {
  BlockResult block = throttled_block(20, 1);
  const double seconds = block.seconds;
  after_exhaustion().settle(block, false);
  CHECK(block.seconds == seconds);
}

TEST_CASE("times that no clock gives leave a block as it is") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double tau : {0.0, -1.0, 1e300, infinity, std::nan("")}) {
    CAPTURE(tau);
    BlockResult block = throttled_block(60, 3);
    const double seconds = block.seconds;
    block.group_taus[5] = tau;
    after_exhaustion().settle(block, true);
    CHECK(block.seconds == seconds);
  }
  BlockResult empty;
  empty.group_taus = {1, 1};
  after_exhaustion().settle(empty, false);
  CHECK(empty.seconds == 0);
}
