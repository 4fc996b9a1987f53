#pragma once
// A thread that is busy, and the cycle and chain that its samples belong to.
#include <cmath>

#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/profile/function_table.hpp"

namespace cachebisect::test {

/// Not inlined, and busy by the thread's own clock, however loaded the machine is.
[[gnu::noinline]] inline double burn_cpu(double seconds) {
  double sum = 0;
  const double end = thread_cpu_seconds() + seconds;
  while (thread_cpu_seconds() < end) {
    for (int i = 0; i < 10'000; ++i) sum += std::sqrt(static_cast<double>(i));
  }
  return sum;
}

/// A cycle that one worker, this thread, fills with its stage 1.
inline profile::Cycle cycle_of_this_thread() {
  profile::Cycle cycle;
  cycle.end = 1e9;
  cycle.workers = {{{0, 1e9, 0, 1, LoadWork::stage}}};
  cycle.worker_threads = {gettid()};
  return cycle;
}

/// Stage 1 is called "burn".
inline ChainDescription two_stages() {
  ChainDescription chain;
  chain.stages.resize(2);
  chain.stages[1].name = "burn";
  return chain;
}

}  // namespace cachebisect::test
