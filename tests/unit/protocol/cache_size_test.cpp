#include "cachebisect/protocol/cache_size.hpp"

#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

CacheNeeds ample() {
  CacheNeeds needs;
  needs.batch_size = 32;
  needs.data_set_samples = 1'000'000;
  needs.host_bytes_per_sample = 3000;
  needs.host_budget_bytes = 1e12;
  return needs;
}

}  // namespace

TEST_CASE("K is at least 64 samples in whole batches") {
  CacheNeeds needs = ample();
  CHECK(choose_cache_size(needs).samples == 64);
  needs.batch_size = 48;
  CHECK(choose_cache_size(needs).samples == 96);
  CHECK(choose_cache_size(needs).limited_by.empty());
}

TEST_CASE("K holds what is wanted and two batches") {
  CacheNeeds needs = ample();
  needs.wanted_samples = 630;
  CHECK(choose_cache_size(needs).samples == 640);
  needs.batch_size = 400;
  CHECK(choose_cache_size(needs).samples == 800);
}

TEST_CASE("the limit of K is reported") {
  CacheNeeds needs = ample();
  needs.wanted_samples = 128'000;
  SUBCASE("data set") {
    needs.data_set_samples = 100;
    CHECK(choose_cache_size(needs).samples == 96);
    CHECK(choose_cache_size(needs).limited_by == "data set");
  }
  SUBCASE("data set below one batch") {
    needs.data_set_samples = 10;
    CHECK(choose_cache_size(needs).samples == 32);
  }
  SUBCASE("host budget") {
    needs.host_budget_bytes = 3000.0 * 170;
    CHECK(choose_cache_size(needs).samples == 160);
    CHECK(choose_cache_size(needs).limited_by == "host budget");
  }
  SUBCASE("device budget") {
    needs.device_bytes_per_sample = 500;
    needs.device_budget_bytes = 500.0 * 64;
    CHECK(choose_cache_size(needs).samples == 64);
    CHECK(choose_cache_size(needs).limited_by == "device budget");
  }
}

TEST_CASE("K never takes more than the memory that is available, whatever the budget") {
  CacheNeeds needs = ample();
  needs.wanted_samples = 128'000;
  needs.host_memory_bytes = 3000.0 * 170;
  CHECK(host_limit(needs) == 3000.0 * 170);
  CHECK(choose_cache_size(needs).samples == 160);
  CHECK(choose_cache_size(needs).limited_by == "available host memory");
  needs.host_memory_bytes = 3000.0 * 31;
  const std::string message = test::usage_error([&] { choose_cache_size(needs); });
  CHECK(test::has(message, "the available host memory of 93000 bytes does not hold one batch"));
  CHECK(test::has(message, "lower batch_size"));
  CHECK_FALSE(test::has(message, "--cache-host"));
}

TEST_CASE("a budget below one batch is refused with the bytes that are needed") {
  CacheNeeds needs = ample();
  needs.host_budget_bytes = 3000.0 * 32 - 1;
  const std::string message = test::usage_error([&] { choose_cache_size(needs); });
  CHECK(test::has(message, "--cache-host"));
  CHECK(test::has(message, "96000"));
}

TEST_CASE("the most samples are what the budgets hold, however small the data set is") {
  CacheNeeds needs = ample();
  needs.wanted_samples = 64;
  needs.data_set_samples = 64;
  needs.host_budget_bytes = 3000.0 * 170;
  CHECK(most_samples(needs) == 160);
  CHECK(choose_cache_size(needs).samples == 64);
}
