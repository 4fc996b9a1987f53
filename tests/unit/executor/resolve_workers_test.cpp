#include "cachebisect/executor/resolve_workers.hpp"

#include <mutex>
#include <set>
#include <thread>

#include "support/test_chain.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("a measured worker count is within the machine's cores") {
  const Pipeline pipeline = test::random_chain({.workers = kAutoWorkers});
  const auto device = make_cpu_device();
  LiveOrder order(pipeline);
  const int workers = resolve_workers(pipeline, *device, order);
  CHECK(workers >= 1);
  CHECK(workers <= static_cast<int>(std::thread::hardware_concurrency()));
}

TEST_CASE("what the trials read is not read again") {
  std::mutex mutex;
  std::set<std::uint64_t> read;
  std::size_t reads = 0;
  const Pipeline pipeline = PipelineBuilder{}
                                .source("read", 1U << 30U,
                                        [&](SampleIndex index, Sample& out) {
                                          test::read_image(index, out);
                                          const std::scoped_lock lock(mutex);
                                          read.insert(index.value);
                                          ++reads;
                                        })
                                .collate()
                                .copy()
                                .batch_size(8)
                                .workers(kAutoWorkers)
                                .device("cpu")
                                .build();
  read.clear();  // build() learns from a few samples
  reads = 0;
  const auto device = make_cpu_device();
  LiveOrder order(pipeline, 1);
  resolve_workers(pipeline, *device, order);
  CHECK(read.size() == reads);  // a trial never reads what another one has left in memory
  for (const SampleIndex sample : order.take(1000)) CHECK(read.count(sample.value) == 0);
}
