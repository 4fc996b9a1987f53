// What a training thread and workers lose by sharing the cores.
#include "cachebisect/bisect/costs/turns.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

constexpr double kStep = 8.5;

/// A step with a thread per core next to workers that compute, in milliseconds.
Demands next_to_all_cores(double cores, int workers, double loading) {
  Demands in;
  in.cores = cores;
  in.workers = workers;
  in.live_seconds = {loading};
  in.trainer_seconds = kStep;
  in.trainer_threads = static_cast<int>(cores);
  in.trainer_cpu_seconds = cores * kStep;
  in.cpu_seconds = in.trainer_cpu_seconds + loading;
  return in;
}

}  // namespace

TEST_CASE("workers and threads of a step that wait for each other take turns, as simulated") {
  // A fair scheduler with slices of 3 ms, in steps of 20 us: 20 loops per step, after which its
  // threads wait for each other on their cores for up to 1.5 ms.
  struct Case {
    double cores;
    int workers;
    double loading;
    double simulated;
  };
  constexpr std::array kCases{
      Case{2, 1, 4, 12.1},  Case{2, 2, 4, 12.1},  Case{2, 4, 4, 12.1},  Case{2, 1, 8, 15.7},
      Case{2, 2, 8, 15.7},  Case{2, 4, 8, 15.7},  Case{2, 1, 16, 23.7}, Case{2, 2, 16, 22.8},
      Case{2, 4, 16, 22.8}, Case{2, 1, 24, 30.2}, Case{2, 2, 24, 23.7}, Case{2, 4, 24, 30.0},
      Case{2, 1, 48, 52.6}, Case{2, 2, 48, 33.4}, Case{2, 4, 48, 36.7}, Case{4, 1, 8, 15.5},
      Case{4, 2, 8, 15.2},  Case{4, 4, 8, 15.2},  Case{4, 1, 24, 29.3}, Case{4, 2, 24, 28.6},
      Case{4, 4, 24, 28.3}, Case{4, 1, 48, 48.5}, Case{4, 2, 48, 46.8}, Case{4, 4, 48, 21.2},
      Case{4, 2, 96, 56.7}, Case{4, 4, 96, 32.9}};
  for (const auto& [cores, workers, loading, simulated] : kCases) {
    CAPTURE(cores);
    CAPTURE(workers);
    CAPTURE(loading);
    const double predicted = seconds_in_turns(next_to_all_cores(cores, workers, loading));
    CHECK(predicted == doctest::Approx(simulated).epsilon(0.18));
  }
}

TEST_CASE("where a core is left for each worker, nothing takes turns") {
  Demands in = next_to_all_cores(4, 2, 10);
  in.trainer_threads = 2;
  CHECK(share_lost_to_switches(in) == 0);
  in.trainer_cpu_seconds = 2 * kStep;
  in.cpu_seconds = in.trainer_cpu_seconds + 10;
  CHECK(seconds_in_turns(in) == predicted_seconds_per_sample(in));
  in.workers = 3;
  CHECK(seconds_in_turns(in) > predicted_seconds_per_sample(in));
  CHECK(share_lost_to_switches(in) > 0.1);
  in.workers = 0;
  CHECK(seconds_in_turns(in) == predicted_seconds_per_sample(in));
}

TEST_CASE("workers that wait for storage leave their cores to the step") {
  Demands in = next_to_all_cores(2, 1, 20);
  in.cpu_seconds = in.trainer_cpu_seconds + 2;
  CHECK(seconds_in_turns(in) == doctest::Approx(20));  // The worker's own pace.
  in.workers = 4;
  CHECK(seconds_in_turns(in) == doctest::Approx(kStep + 2));
}

TEST_CASE("without workers, what turns will cost follows from the threads of the step") {
  CostModel costs;
  costs.cores = 2;
  costs.trainer_seconds = 1;
  CHECK(share_in_turns(costs, 1) == 0);
  costs.trainer_threads = 2;
  CHECK(share_in_turns(costs, 1) == 1);
}
