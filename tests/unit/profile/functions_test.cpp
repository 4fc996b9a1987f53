// Samples of call stacks, names of functions, and sums over both.
#include <atomic>
#include <thread>

#include "support/text.hpp"
#include "unit/profile/busy_thread.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/profile/cpu_sampler.hpp"
#include "cachebisect/profile/function_table.hpp"
#include "cachebisect/profile/symbols.hpp"

using namespace cachebisect;
using namespace cachebisect::profile;
using test::burn_cpu;
using test::cycle_of_this_thread;
using test::has;
using test::two_stages;

namespace {

[[gnu::noinline]] int not_exported(int number) { return number + 1; }

}  // namespace

TEST_CASE("arguments, templates and anonymous namespaces are left out of names") {
  CHECK(without_arguments("cachebisect::stages::(anonymous namespace)::Crop::process("
                          "cachebisect::Sample const&, int) const") == "stages::Crop::process");
  CHECK(without_arguments("void f<int, g(int)>(std::vector<int> const&)") == "f");
  CHECK(without_arguments("main") == "main");
  CHECK(without_arguments("a::operator()(int) const") == "a::operator()");
  CHECK(without_arguments("") == "");
}

TEST_CASE("functions have names whether they are exported or not") {
  Symbols symbols;
  CHECK(has(symbols.name_at(reinterpret_cast<const void*>(&not_exported), false), "not_exported"));
  CHECK(symbols.name_at(reinterpret_cast<const void*>(&process_cpu_seconds), false) ==
        "process_cpu_seconds");
  CHECK(symbols.name_at(nullptr, false) == "(no symbol)");
}

TEST_CASE("a busy thread is sampled where it is busy, within its stage") {
  // How often depends on what else the machine does: as long as it takes.
  for (int attempt = 0;; ++attempt) {
    REQUIRE(attempt < 1000);
    CpuSampler sampler(10'000, 0.5e-3);
    sampler.start();
    CHECK(burn_cpu(0.1) > 0);
    sampler.stop();
    CHECK(sampler.dropped() == 0);
    FunctionSums sums(sampler.period());
    sums.add(cycle_of_this_thread(), sampler.samples(), two_stages());
    bool burned = false;
    for (const CallRow& row : sums.rows()) {
      CHECK(row.where == "burn");
      burned = burned || (has(row.name, "burn_cpu") && row.total_seconds > 0);
    }
    if (burned) return;
  }
}

TEST_CASE("samples of other threads and of other times belong to no stage") {
  CpuSampler sampler(1000, 0.5e-3);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) (void)burn_cpu(0.01);
  });
  sampler.start();
  (void)burn_cpu(0.05);
  sampler.stop();
  stop = true;
  other.join();
  Cycle cycle = cycle_of_this_thread();
  cycle.worker_threads = {1};
  FunctionSums sums(sampler.period());
  sums.add(cycle, sampler.samples(), two_stages());
  cycle = cycle_of_this_thread();
  cycle.workers[0][0].end = 1e-9;
  sums.add(cycle, sampler.samples(), two_stages());
  CHECK(sums.rows().empty());
}

TEST_CASE("samples that do not fit are counted, and one sampler runs at a time") {
  for (int attempt = 0;; ++attempt) {
    REQUIRE(attempt < 1000);
    CpuSampler sampler(2, 0.5e-3);
    sampler.start();
    CpuSampler second(2, 0.5e-3);
    CHECK_THROWS_AS(second.start(), Error);
    (void)burn_cpu(0.1);
    sampler.stop();
    sampler.stop();
    CHECK(sampler.samples().size() <= 2);
    second.start();
    second.stop();
    if (sampler.dropped() == 0) continue;
    CHECK(sampler.samples().size() == 2);
    return;
  }
}
