// The synthetic stages: free bytes, sizes, and costs spent through the worker's pace.
#include <set>

#include "stages/conformance.hpp"
#include "support/passed_time.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/stages.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

TEST_CASE("synthetic.read gives different samples and copies nothing") {
  const auto source = std::dynamic_pointer_cast<SourceStage>(
      stages::make("synthetic.read", R"({"bytes": 100, "samples": 500})").stage);
  CHECK(source->size() == 500);
  CHECK(source->infer()[0].shape == Shape{100});
  Arena arena;
  std::set<std::vector<std::byte>> images;
  Sample sample;
  for (std::uint64_t i = 0; i < 64; ++i) {
    sample.set_index({i});
    source->read(sample, SampleContext({.index = i}, arena));
    CHECK(sample.field("label").as_integer() == static_cast<std::int64_t>(i));
    CHECK(sample.field("image").capacity() == 0);
    images.insert(bytes_of(sample.field("image").view()));
  }
  CHECK(images.size() == 64);
}

TEST_CASE("synthetic.payload changes only the size") {
  const auto stage = std::dynamic_pointer_cast<SampleStage>(
      stages::make("synthetic.payload", R"({"bytes": 4000})").stage);
  const SampleSpec input{{"image", DType::float32, Shape{2, 2}}, {"label", DType::int64, Shape{}}};
  const SampleSpec output = stage->infer(input);
  CHECK(output[0] == FieldSpec{"image", DType::uint8, Shape{4000}});
  CHECK(output[1] == input[1]);
}

TEST_CASE("synthetic.cpu burns the given CPU time, and wait and lock take the given time") {
  Sample input;
  fill(input.field("image"), DType::uint8, Shape{4}, 1);
  struct Spent {
    double cpu_seconds;
    Beginning start;
  };
  const auto spend = [&](const std::string& type) {
    const auto stage =
        std::dynamic_pointer_cast<SampleStage>(stages::make(type, R"({"us": 500})").stage);
    static_cast<void>(stage->infer({{"image", DType::uint8, Shape{4}}}));
    Worker worker;
    const double begin = thread_cpu_seconds();
    const Beginning start;
    for (int i = 0; i < 64; ++i) static_cast<void>(worker.run(*stage, input));
    return Spent{thread_cpu_seconds() - begin, start};
  };
  // Lower bounds only: a busy machine may add any delay.
  CHECK(spend("synthetic.cpu").cpu_seconds >= 64 * 500e-6 * 0.99);
  CHECK(spend("synthetic.wait").start.is_past(64 * 500e-6 - 5.1e-3));
  CHECK(spend("synthetic.lock").start.is_past(64 * 500e-6 - 5.1e-3));
}

TEST_CASE("synthetic.memory needs open(), and reads more bytes than its pool has") {
  const auto stage = std::dynamic_pointer_cast<SampleStage>(
      stages::make("synthetic.memory", R"({"bytes": 300000000})").stage);
  Sample input;
  fill(input.field("image"), DType::uint8, Shape{4}, 1);
  Worker worker;
  CHECK_THROWS_AS(worker.run(*stage, input), Error);
  stage->open();
  CHECK_NOTHROW(worker.run(*stage, input));
}
