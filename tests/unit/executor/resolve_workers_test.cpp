#include "cachebisect/executor/resolve_workers.hpp"

#include <thread>

#include "support/test_chain.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("a measured worker count is within the machine's cores") {
  const Pipeline pipeline = test::random_chain({.workers = kAutoWorkers});
  const auto device = make_cpu_device();
  const int workers = resolve_workers(pipeline, *device);
  CHECK(workers >= 1);
  CHECK(workers <= static_cast<int>(std::thread::hardware_concurrency()));
}
