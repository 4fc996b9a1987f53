#include "cachebisect/base/parallel.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

TEST_CASE("each index is worked on once") {
  std::vector<std::atomic<int>> calls(1000);
  parallel_for(calls.size(), 7, {}, [&](std::uint64_t i) { ++calls[i]; });
  for (const std::atomic<int>& count : calls) CHECK(count == 1);
}

TEST_CASE("the error of the smallest index is told, whichever thread fails first") {
  const std::string error = error_of([] {
    parallel_for(8, 1, {}, [](std::uint64_t i) {
      if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw Error(ErrorKind::data, "at " + std::to_string(i));
    });
  });
  CHECK(error.ends_with("at 0"));
}

TEST_CASE("a stop ends it") {
  std::stop_source stop;
  std::atomic<int> calls = 0;
  const std::string error = error_of([&] {
    parallel_for(1'000'000, 1, stop.get_token(), [&](std::uint64_t) {
      ++calls;
      stop.request_stop();
    });
  });
  CHECK(error.ends_with("stopped"));
  CHECK(calls < 1'000'000);
}
