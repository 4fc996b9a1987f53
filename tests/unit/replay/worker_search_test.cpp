// The search for the number of workers, in virtual time.
#include "cachebisect/replay/worker_search.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;

namespace {

/// A loop whose workers wait or compute, in front of a step; blocks have noise.
struct Costs {
  double wait_seconds = 0;  ///< of a worker per batch
  double cpu_seconds = 0;
  double step_seconds = 1e-3;
  double noise = 0.01;
  double bytes_per_worker = 1e6;
  double free_bytes = 1e12;
};

constexpr double kCores = 2;
constexpr int kSearchBatch = 4;

class VirtualMachine {
 public:
  explicit VirtualMachine(const Costs& costs) : costs_(costs), random_({.seed = 5}) {}

  WorkerChoice search() {
    return search_workers({
        .open = [this](int workers) { return std::make_unique<Loop>(*this, workers); },
        .clock = [this] { return now_; },
        .free_bytes = [this] { return costs_.free_bytes; },
        .cores = kCores,
        .batch_size = kSearchBatch,
    });
  }

  [[nodiscard]] double seconds() const { return now_; }

  /// Seconds per batch, without noise.
  [[nodiscard]] double batch_seconds(int workers) const {
    const double load = (costs_.wait_seconds + costs_.cpu_seconds) / workers;
    return std::max({costs_.step_seconds, load, costs_.cpu_seconds / kCores});
  }

 private:
  class Loop final : public TrialLoop {
   public:
    Loop(VirtualMachine& machine, int workers) : machine_(machine), workers_(workers) {}

    TrialBlock run(int steps) override {
      const double exact = steps * machine_.batch_seconds(workers_);
      TrialBlock block;
      block.seconds = exact * std::exp(machine_.costs_.noise * machine_.random_.normal());
      block.starved_seconds = exact - steps * machine_.costs_.step_seconds;
      block.cpu_seconds = steps * machine_.costs_.cpu_seconds;
      block.samples = static_cast<std::uint64_t>(steps) * kSearchBatch;
      machine_.now_ += block.seconds;
      return block;
    }
    [[nodiscard]] double bytes_held() const override {
      return workers_ * machine_.costs_.bytes_per_worker;
    }

   private:
    VirtualMachine& machine_;
    int workers_;
  };

  Costs costs_;
  RandomStream random_;
  double now_ = 0;
};

WorkerChoice search(const Costs& costs) { return VirtualMachine(costs).search(); }

}  // namespace

TEST_CASE("workers that wait are worth more than there are cores, until the step is the limit") {
  const Costs costs{.wait_seconds = 16e-3, .step_seconds = 0.5e-3};
  const WorkerChoice choice = search(costs);
  CHECK(choice.workers == 32);  // 16 ms of 32 workers are the step's 0.5 ms
  CHECK(choice.search.certain);
  CHECK(choice.search.limited_by.empty());
  const auto& trials = choice.search.trials;
  REQUIRE(trials.size() == 6);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    CHECK(trials[i].workers == 1 << i);
    CHECK(trials[i].interval.low <= trials[i].samples_per_second);
    CHECK(trials[i].samples_per_second <= trials[i].interval.high);
    const double exact = kSearchBatch / VirtualMachine(costs).batch_seconds(trials[i].workers);
    CHECK(trials[i].samples_per_second == doctest::Approx(exact).epsilon(0.03));
  }
}

TEST_CASE("one worker is enough if the training step is the limit") {
  const WorkerChoice choice = search({.wait_seconds = 40e-6, .step_seconds = 5e-3});
  CHECK(choice.workers == 1);
  CHECK(choice.search.limited_by.empty());
}

TEST_CASE("workers that compute are worth no more than there are cores") {
  const WorkerChoice choice = search({.cpu_seconds = 8e-3, .step_seconds = 0.5e-3});
  CHECK(choice.workers == 2);
  CHECK(choice.search.limited_by.empty());
}

TEST_CASE("what ends the search before its answer is named") {
  CHECK(search({.wait_seconds = 1, .step_seconds = 1e-3}).search.limited_by == "time");
  CHECK(search({.wait_seconds = 5e-3, .step_seconds = 1e-6}).search.limited_by == "workers");
  const WorkerChoice small =
      search({.wait_seconds = 5e-3, .step_seconds = 1e-6, .free_bytes = 50e6});
  CHECK(small.search.limited_by == "memory");
  CHECK(small.workers == 4);
}

TEST_CASE("noise that the rounds cannot average out is said to be uncertain") {
  const WorkerChoice choice = search({.wait_seconds = 2e-3, .step_seconds = 1e-3, .noise = 0.5});
  CHECK_FALSE(choice.search.certain);
}

TEST_CASE("batches that take long decide with one block of each count of workers") {
  // A worker decodes and crops 64 photos in 0.3 s; one block of three batches is 0.9 s.
  VirtualMachine machine({.cpu_seconds = 0.3, .step_seconds = 12e-3});
  const WorkerChoice choice = machine.search();
  CHECK(choice.workers == 2);
  CHECK(choice.search.certain);
  CHECK(choice.search.limited_by.empty());
  CHECK(machine.seconds() < 2);
}

TEST_CASE("a gain that one long block cannot show is measured again") {
  // Eight workers that wait are 5% faster than four.
  VirtualMachine machine({.wait_seconds = 0.22, .step_seconds = 52.5e-3});
  CHECK(machine.search().workers == 8);
}
