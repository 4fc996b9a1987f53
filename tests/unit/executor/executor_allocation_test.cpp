// Counts every allocation of the process while samples are loaded, and the executor's memory.
#include <memory>
#include <string>
#include <utility>

#include "support/allocation_counter.hpp"
#include "support/sanitized.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;
using test::allocations;

namespace {

void drain(Executor& executor, int batches) {
  for (int i = 0; i < batches; ++i) executor.release(executor.next({}), nullptr);
}

Pipeline counted_chain(bool strided, bool vary) {
  return PipelineBuilder{}
      .source("read", test::toy_source({.samples = 500, .vary = vary}))
      .stage("noise", test::toy_noise(strided))
      .stage("more", test::toy_noise(!strided))
      .collate(vary ? "NHWC" : "NCHW")
      .stage("count", test::toy_count_up())
      .copy()
      .batch_size(vary ? 1 : 16)
      .build();
}

}  // namespace

TEST_CASE("allocations are counted") {
  const std::uint64_t before = allocations;
  CHECK(std::make_unique<std::string>(100, 'x')->size() == 100);
  CHECK(allocations >= before + 2);
}

TEST_CASE("loading allocates nothing in the steady state and holds constant memory") {
  const auto device = make_cpu_device();
  for (const bool strided : {false, true}) {
    for (const bool vary : {false, true}) {
      const Pipeline pipeline = counted_chain(strided, vary);
      for (const auto& [workers, kind] :
           {std::pair{0, LoaderKind::sample}, std::pair{1, LoaderKind::sample},
            std::pair{2, LoaderKind::sample}, std::pair{4, LoaderKind::sample},
            std::pair{1, LoaderKind::batch}, std::pair{4, LoaderKind::batch}}) {
        CAPTURE(strided);
        CAPTURE(vary);
        CAPTURE(workers);
        CAPTURE(to_string(kind));
        Executor executor(pipeline, *device, {.workers = workers, .loader = kind});
        executor.start({});
        // Under a sanitizer not long enough for every slot to have grown.
        const int rounds = test::kIsSanitized ? 100 : vary ? 3000 : 200;
        drain(executor, rounds);
        const std::uint64_t before = allocations;
        drain(executor, rounds);
        const std::uint64_t during = allocations - before;
        executor.halt();
        const std::size_t held = executor.bytes_held();
        executor.start({});
        drain(executor, rounds);
        executor.halt();
        CHECK(held > 0);
        if (test::kIsSanitized) continue;
        // A worker may have had no CPU during the warm-up; its later setup is bounded, and far
        // below one allocation per sample.
        if (workers <= 1) CHECK(during == 0);
        CHECK(during <= static_cast<std::uint64_t>(workers) * 40);
        if (workers <= 1) CHECK(executor.bytes_held() == held);
      }
    }
  }
}
