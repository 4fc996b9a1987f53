// How much of a thread's time its samples account for.

#include "support/text.hpp"
#include "unit/profile/busy_thread.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/profile/cpu_sampler.hpp"
#include "cachebisect/profile/function_table.hpp"

using namespace cachebisect;
using namespace cachebisect::profile;
using test::burn_cpu;
using test::cycle_of_this_thread;
using test::has;
using test::two_stages;

TEST_CASE("the samples of a busy thread add up to its time") {
  CpuSampler sampler(10'000, 0.5e-3);
  sampler.start();
  CHECK(burn_cpu(0.3) > 0);
  sampler.stop();
  REQUIRE(sampler.samples().size() > 5);
  CHECK(sampler.dropped() == 0);
  FunctionSums sums(sampler.period());
  sums.add(cycle_of_this_thread(), sampler.samples(), two_stages());
  double burned = 0;
  for (const CallRow& row : sums.rows()) {
    CHECK(row.where == "burn");
    if (has(row.name, "burn_cpu")) burned = row.total_seconds;
  }
  CHECK(burned > 0.15);
  CHECK(burned < 0.4);
}
