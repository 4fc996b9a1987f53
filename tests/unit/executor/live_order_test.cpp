#include "cachebisect/executor/live_order.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "support/test_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/load_program.hpp"

using namespace cachebisect;

namespace {

struct Set {
  std::uint64_t samples = 1000;
  bool shuffle = true;
  bool drop_last = true;
};

Pipeline over(const Set& set) {
  return PipelineBuilder{}
      .source("read", set.samples, test::read_image)
      .collate()
      .copy()
      .batch_size(8)
      .workers(1)
      .shuffle(set.shuffle)
      .drop_last(set.drop_last)
      .device("cpu")
      .build();
}

std::vector<std::uint64_t> values(const std::vector<SampleIndex>& samples) {
  std::vector<std::uint64_t> all;
  for (const SampleIndex sample : samples) all.push_back(sample.value);
  return all;
}

std::size_t distinct(const std::vector<SampleIndex>& samples) {
  const std::vector<std::uint64_t> all = values(samples);
  return std::set<std::uint64_t>(all.begin(), all.end()).size();
}

/// What the executor would load for a request of the order.
std::vector<std::uint64_t> loaded(const Pipeline& pipeline, const LoadRequest& request,
                                  std::uint64_t batches) {
  const Sampler sampler(pipeline.samples(), pipeline.spec().seed, pipeline.spec().shuffle);
  const LoadProgram program(pipeline, sampler, request);
  OrderReader reader;
  std::vector<std::uint64_t> all;
  for (std::uint64_t b = 0; b < batches; ++b) {
    const BatchRange range = program.range(b);
    LoadCursor at = program.cursor(range.first_position);
    for (std::int64_t i = 0; i < range.size; ++i, at.advance()) {
      all.push_back(program.index(at, reader).value);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("caches and blocks never take the same sample before the epoch ends") {
  const Pipeline pipeline = over({.samples = 1003});
  LiveOrder blocks(pipeline, 7);
  LiveOrder caches = blocks;
  std::vector<SampleIndex> all = caches.take(16);
  all = caches.take(48, std::move(all));
  while (all.size() < 1000) {
    const std::uint64_t position = blocks.reserve(2);
    CHECK(blocks.epoch(position) == 0);
    for (const SampleIndex sample : blocks.indices(position, 2)) all.push_back(sample);
    const std::uint64_t more = std::min<std::uint64_t>(24, 1000 - all.size());
    for (const SampleIndex sample : caches.take(more)) all.push_back(sample);
  }
  CHECK(all.size() == 1000);  // the epoch without its short last batch
  CHECK(distinct(all) == 1000);
  CHECK(blocks.epoch(blocks.reserve(1)) == 1);
}

TEST_CASE("samples taken across the end of an epoch are all different") {
  const Pipeline pipeline = over({.samples = 100});
  LiveOrder order(pipeline);
  CHECK(distinct(order.take(64)) == 64);
  CHECK(distinct(order.take(96)) == 96);
  CHECK(order.take(200).size() == 200);  // more than there are
}

TEST_CASE("the executor loads the samples that the order lists, wherever the nonce begins") {
  for (const bool shuffle : {true, false}) {
    for (const std::uint64_t nonce : {0U, 1U, 123456U}) {
      CAPTURE(shuffle);
      CAPTURE(nonce);
      const Pipeline pipeline = over({.samples = 5003, .shuffle = shuffle});
      LiveOrder order(pipeline, nonce);
      order.reserve(617);  // 625 batches in the epoch
      const std::uint64_t position = order.reserve(20);
      CHECK(loaded(pipeline, order.request(position), 20) == values(order.indices(position, 20)));
    }
  }
}

TEST_CASE("runs with different nonces begin with different samples, with the same nonce alike") {
  for (const bool shuffle : {true, false}) {
    CAPTURE(shuffle);
    const Pipeline pipeline = over({.samples = 50000, .shuffle = shuffle});
    const auto first = [&](std::uint64_t nonce) { return LiveOrder(pipeline, nonce).take(100); };
    std::vector<SampleIndex> both = first(1);
    CHECK(values(both) == values(first(1)));
    for (const SampleIndex sample : first(2)) both.push_back(sample);
    CHECK(distinct(both) == 200);
  }
}

TEST_CASE("nonce 0 begins at the beginning of the epoch") {
  const Pipeline pipeline = over({.samples = 5000, .shuffle = false});
  CHECK(values(LiveOrder(pipeline, 0).take(3)) == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(values(LiveOrder(pipeline, 1).take(3)) != std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("a small unshuffled data set is read from its first sample on") {
  const Pipeline pipeline = over({.samples = 4095, .shuffle = false});
  CHECK(LiveOrder(pipeline, 1).take(1).front().value == 0);
}

TEST_CASE("the order of another pipeline over the same data continues behind this one") {
  const Pipeline pipeline = over({.samples = 960});
  const Pipeline other = test::random_chain({.samples = 960, .batch_size = 12});
  LiveOrder one(pipeline, 5);
  LiveOrder two = one.shared_with(other);
  CHECK(two.nonce() == 5);
  std::vector<SampleIndex> all;
  for (int i = 0; i < 20; ++i) {
    for (LiveOrder* order : {&one, &two}) {
      for (const SampleIndex sample : order->indices(order->reserve(1), 1)) all.push_back(sample);
    }
  }
  CHECK(distinct(all) == all.size());
}

TEST_CASE("a sparse list of a block's samples is spread over the block") {
  const Pipeline pipeline = over({});
  const LiveOrder order(pipeline, 3);
  const std::vector<std::uint64_t> block = values(order.indices(80, 10));
  const std::vector<std::uint64_t> some = values(order.some_indices(80, 10, 4));
  CHECK(some == std::vector<std::uint64_t>{block[0], block[20], block[40], block[60]});
}
