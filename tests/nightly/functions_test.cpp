// How much of a thread's time its samples account for.
#include <cmath>

#include "support/text.hpp"
#include <doctest/doctest.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/profile/cpu_sampler.hpp"
#include "cachebisect/profile/function_table.hpp"

using namespace cachebisect;
using namespace cachebisect::profile;
using test::has;

namespace {

/// Not exported, not inlined, and busy by the thread's own clock, however loaded the machine is.
[[gnu::noinline]] double burn_cpu(double seconds) {
  double sum = 0;
  const double end = thread_cpu_seconds() + seconds;
  while (thread_cpu_seconds() < end) {
    for (int i = 0; i < 10'000; ++i) sum += std::sqrt(static_cast<double>(i));
  }
  return sum;
}

Cycle cycle_of_this_thread() {
  Cycle cycle;
  cycle.end = 1e9;
  cycle.workers = {{{0, 1e9, 0, 1, LoadWork::stage}}};
  cycle.worker_threads = {gettid()};
  return cycle;
}

ChainDescription two_stages() {
  ChainDescription chain;
  chain.stages.resize(2);
  chain.stages[1].name = "burn";
  return chain;
}

}  // namespace

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
