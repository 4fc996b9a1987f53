// A buffer of runs: right for every thread, each run read once while it is needed, faults passed
// on.
#include "cachebisect/shards/run_buffer.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using shards::RunBuffer;

namespace {

void fill_run(std::uint64_t run, std::vector<std::byte>& bytes) {
  bytes.resize(512 + run % 7 * 100);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(run * 31 + i);
}

bool is_right(const RunBuffer::Lease& lease, std::uint64_t run) {
  std::vector<std::byte> wanted;
  fill_run(run, wanted);
  return lease.bytes().size() == wanted.size() &&
         std::memcmp(lease.bytes().data(), wanted.data(), wanted.size()) == 0;
}

}  // namespace

TEST_CASE("runs in their order are read once each, with any number of slots") {
  for (const std::size_t slots : {1U, 2U, 10U}) {
    RunBuffer buffer(20, slots, fill_run);
    for (std::uint64_t run = 0; run < 20; ++run) {
      for (int sample = 0; sample < 5; ++sample) CHECK(is_right(buffer.get(run), run));
    }
    CHECK(buffer.reads() == 20);
  }
}

TEST_CASE("what was read first makes room") {
  RunBuffer buffer(5, 3, fill_run);
  for (const std::uint64_t run : {0U, 1U, 2U, 0U, 3U}) CHECK(is_right(buffer.get(run), run));
  CHECK(buffer.reads() == 4);
  CHECK(is_right(buffer.get(2), 2));
  CHECK(buffer.reads() == 4);
  CHECK(is_right(buffer.get(0), 0));
  CHECK(buffer.reads() == 5);
}

TEST_CASE("threads get right bytes while runs come and go") {
  for (const std::size_t slots : {4U, 5U, 12U}) {
    RunBuffer buffer(16, slots, fill_run);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        RandomStream random({.seed = t});
        for (int i = 0; i < 3000; ++i) {
          const std::uint64_t run = random.below(16);
          if (!is_right(buffer.get(run), run)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(buffer.reads() >= 16);
  }
}

TEST_CASE("threads that need one run read it once") {
  std::atomic<int> reads{0};
  RunBuffer buffer(1, 6, [&reads](std::uint64_t run, std::vector<std::byte>& bytes) {
    ++reads;
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    fill_run(run, bytes);
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { CHECK(is_right(buffer.get(0), 0)); });
  for (std::thread& thread : threads) thread.join();
  CHECK(reads == 1);
}

TEST_CASE("a fault reaches the thread that asked, and the next one tries again") {
  int attempts = 0;
  RunBuffer buffer(3, 2, [&attempts](std::uint64_t run, std::vector<std::byte>& bytes) {
    if (run == 1 && ++attempts < 3) throw Error(ErrorKind::data, "cannot be read");
    fill_run(run, bytes);
  });
  const auto fault = [&](std::uint64_t run) {
    return error_message([&] { static_cast<void>(buffer.get(run)); }, ErrorKind::data);
  };
  CHECK(fault(0).empty());
  CHECK(fault(1) == "cannot be read");
  CHECK(fault(1) == "cannot be read");
  CHECK(is_right(buffer.get(1), 1));
  CHECK(is_right(buffer.get(0), 0));
}

TEST_CASE("more threads than there are slots wait for each other") {
  RunBuffer buffer(16, 2, [](std::uint64_t run, std::vector<std::byte>& bytes) {
    std::this_thread::yield();
    fill_run(run, bytes);
  });
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 6; ++t) {
    threads.emplace_back([&buffer, &wrong, t] {
      for (std::uint64_t i = 0; i < 300; ++i) {
        const std::uint64_t run = (i + 3 * t) % 16;
        if (!is_right(buffer.get(run), run)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
