// `workers: auto` in real time.
#include "support/all_stages.hpp"
#include "support/waiting_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/job/open_job.hpp"

using namespace cachebisect;
using test::waiting_chain;

TEST_CASE("workers that wait are worth more than there are cores, until the step is the limit") {
  // A worker loads a batch in 16 ms, and a step takes 0.5 ms: every doubling up to 32 helps.
  const Job job = open_job(waiting_chain(4000, 0.5), &test::all_stages());
  CHECK(job.workers >= 8);
  REQUIRE(job.worker_search.has_value());
  const auto& trials = job.worker_search->trials;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    CHECK(trials[i].workers == 1 << i);
    CHECK(trials[i].interval.low <= trials[i].samples_per_second);
    CHECK(trials[i].samples_per_second <= trials[i].interval.high);
  }
  CHECK(trials[1].samples_per_second > 1.5 * trials[0].samples_per_second);
  CHECK(trials.back().workers >= job.workers);
}

TEST_CASE("one worker is enough if the training step is the limit") {
  const Job job = open_job(waiting_chain(10, 5), &test::all_stages());
  CHECK(job.workers == 1);
  CHECK(job.worker_search->trials.size() == 2);
  CHECK(job.worker_search->limited_by.empty());
}
