// Codecs: what is compressed comes back, from several threads too, and damage is found.
#include "cachebisect/shards/record_codec.hpp"

#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using namespace cachebisect::shards;

namespace {

std::vector<std::byte> record_of(std::size_t size, std::uint64_t seed) {
  RandomStream random({.seed = seed});
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(5));
  return bytes;
}

bool survives(const RecordCodec& codec, const std::vector<std::byte>& record) {
  std::vector<std::byte> stored;
  codec.compress(record, stored);
  std::vector<std::byte> back(record.size());
  return codec.expand(stored, back) && back == record;
}

}  // namespace

TEST_CASE("every codec of this build gives back what it was given") {
  for (const std::string& name : codecs_of_this_build()) {
    CAPTURE(name);
    const auto codec = make_codec(name);
    CHECK(codec->name() == name);
    for (const std::size_t size : {0U, 1U, 1000U, 300'000U}) {
      CHECK(survives(*codec, record_of(size, size)));
    }
    std::vector<std::byte> stored;
    codec->compress(record_of(100'000, 1), stored);
    CHECK((stored.size() < 60'000) == codec->compresses());
  }
}

TEST_CASE("threads share a codec") {
  for (const std::string& name : codecs_of_this_build()) {
    const auto codec = make_codec(name);
    std::vector<int> right(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < right.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) right[t] += survives(*codec, record_of(5000, t)) ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == std::vector<int>{50, 50, 50, 50});
  }
}

TEST_CASE("what does not expand to the size of the record is refused") {
  for (const std::string& name : codecs_of_this_build()) {
    CAPTURE(name);
    const auto codec = make_codec(name);
    const auto record = record_of(1000, 3);
    std::vector<std::byte> stored;
    codec->compress(record, stored);
    for (const std::size_t size : {0U, 999U, 1001U}) {
      std::vector<std::byte> back(size);
      CHECK_FALSE(codec->expand(stored, back));
    }
    std::vector<std::byte> back(1000);
    CHECK_FALSE(codec->expand(std::span(stored).first(stored.size() / 2), back));
  }
}

TEST_CASE("random bytes crash no codec") {
  RandomStream random({.seed = 5});
  for (const std::string& name : codecs_of_this_build()) {
    const auto codec = make_codec(name);
    for (int i = 0; i < 500; ++i) {
      std::vector<std::byte> stored(random.below(300));
      for (std::byte& byte : stored) byte = static_cast<std::byte>(random.below(256));
      std::vector<std::byte> back(random.below(2000));
      static_cast<void>(codec->expand(stored, back));
    }
  }
}

TEST_CASE("a codec that does not exist is refused with those that do") {
  const auto refused = [](const std::string& name) {
    return usage_error([&] { static_cast<void>(make_codec(name)); });
  };
  CHECK(has(refused("gzip"), "none, lz4 or zstd:LEVEL"));
  CHECK(has(refused(""), "none, lz4 or zstd:LEVEL"));
  if (codecs_of_this_build().size() > 1) {
    for (const char* const name : {"zstd:0", "zstd:20", "zstd:", "zstd:x", "zstd1"}) {
      CHECK(has(refused(name), "zstd:LEVEL, from 1 to 19"));
    }
    CHECK(make_codec("zstd")->name() == "zstd");
    CHECK(make_codec("zstd:19")->name() == "zstd:19");
  } else {
    CHECK(has(refused("zstd:1"), "CACHEBISECT_WITH_CODECS=ON"));
  }
}
