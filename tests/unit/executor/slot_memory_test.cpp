#include "cachebisect/executor/slot_memory.hpp"

#include "support/errors.hpp"
#include "support/test_chain.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

TEST_CASE("slots that do not fit are refused with the figures and the remedy") {
  // 224 x 224 x 3 floats, batch 100,000
  const SlotNeeds needs{.slots = 5, .batch_size = 100'000, .bytes_per_sample = 602'112};
  CHECK(usage_error([&] { check_slot_memory(needs, 24e9); }) ==
        "5 batch slots (workers + prefetch + 1) of 100,000 samples take 301 GB (602 kB per "
        "sample), and 24.0 GB of memory is available; lower batch_size to 7,971 or less, or "
        "workers or prefetch");
  CHECK(usage_error([&] { check_slot_memory(needs, 302e9); }) == "");
  CHECK(usage_error([&] { check_slot_memory({5, 7'971, 602'112}, 24e9); }) == "");
  CHECK(usage_error([&] { check_slot_memory({5, 7'972, 602'112}, 24e9); }) != "");
  const std::string hopeless = usage_error([&] { check_slot_memory(needs, 1e6); });
  CHECK_FALSE(has(hopeless, "batch_size to"));
  CHECK(has(hopeless, "lower workers or prefetch"));
}

TEST_CASE("nothing is refused if the system does not report its memory") {
  CHECK(usage_error([] { check_slot_memory({5, 100'000, 1e12}, 0); }) == "");
}

TEST_CASE("a sample's bytes in a slot are those of its row and of what batch stages make") {
  const double row = 5 * 5 * 3 * sizeof(float) + sizeof(std::int64_t);
  CHECK(slot_bytes_per_sample(random_chain({})) == row);
  // A batch stage that keeps shapes may pass its input on, so it counts nothing.
  CHECK(slot_bytes_per_sample(random_chain({.batch_stage = true})) == row);
  PipelineBuilder builder;
  const Pipeline dynamic = builder.source("read", toy_source({.vary = true}))
                               .collate("NHWC")
                               .copy()
                               .batch_size(4)
                               .build();
  CHECK(slot_bytes_per_sample(dynamic) == 0);
}

TEST_CASE("a batch of dynamic shapes is refused once its first sample is known") {
  PipelineBuilder builder;
  // 67 MB and more per sample
  const Pipeline pipeline =
      builder
          .source("read",
                  toy_source({.samples = 1'000'000, .shape = {4, 4096, 4096}, .vary = true}))
          .collate("NHWC")
          .copy()
          .batch_size(65'536)
          .build();
  const auto device = make_cpu_device();
  for (const int workers : {0, 2}) {
    CAPTURE(workers);
    Executor loader(pipeline, *device, {.workers = workers, .prefetch = 0});
    loader.start({});
    const std::string message = usage_error([&] { loader.next({}); });
    CHECK(has(message, "batch slots"));
    CHECK(has(message, "of 65,536 samples"));
    CHECK(has(message, "per sample)"));
    loader.halt();
  }
}
