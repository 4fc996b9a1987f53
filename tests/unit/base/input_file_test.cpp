// A file that many threads read.
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/files.hpp"
#include <doctest/doctest.h>
#include <sys/resource.h>

#include "cachebisect/base/file.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::size_t kNumbers = 2000;

std::string numbers() {
  std::string text;
  std::array<char, 8> number{};
  for (std::size_t i = 0; i < kNumbers; ++i) {
    std::snprintf(number.data(), number.size(), "%04zu", i);
    text += number.data();
  }
  return text;
}

std::string number_at(const InputFile& file, std::size_t index) {
  std::string text(4, ' ');
  file.read(4 * index, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string wanted(std::size_t index) {
  const std::string text = std::to_string(index);
  return std::string(4 - text.size(), '0') + text;
}

std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

}  // namespace

TEST_CASE("threads read what is in a file, each by the descriptor of its core") {
  const TemporaryFolder folder;
  folder.write("numbers", numbers());
  InputFile opened(folder.path("numbers"));
  opened.open_per_core();
  const InputFile file = std::move(opened);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kNumbers; ++i) {
        const std::size_t index = (i * 7 + t * 501) % kNumbers;
        if (number_at(file, index) != wanted(index)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a file that was replaced is opened again as what it was, and all is closed") {
  const TemporaryFolder folder;
  folder.write("numbers", numbers());
  const std::ptrdiff_t before = open_files();
  {
    InputFile file(folder.path("numbers"));
    folder.write("other", std::string(4 * kNumbers, 'x'));
    std::filesystem::rename(folder.path("other"), folder.path("numbers"));
    file.open_per_core();
    CHECK(number_at(file, 77) == "0077");
    if (std::thread::hardware_concurrency() > 1) CHECK(open_files() > before);
    CHECK(open_files() <= before + 17);
  }
  CHECK(open_files() == before);
}

TEST_CASE("where descriptors are few, threads share one") {
  const TemporaryFolder folder;
  folder.write("numbers", numbers());
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlimit low{.rlim_cur = 100, .rlim_max = usual.rlim_max};
  InputFile file(folder.path("numbers"));
  const std::ptrdiff_t before = open_files();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  file.open_per_core();
  CHECK(open_files() == before);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  CHECK(number_at(file, 1234) == "1234");
}
