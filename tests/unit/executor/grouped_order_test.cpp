#include "cachebisect/executor/grouped_order.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/executor/load_program.hpp"

using namespace cachebisect;
using test::has;
using test::usage_error;

namespace {

constexpr std::uint64_t kGroupedBatch = 8;

std::uint64_t size_of_sample(std::uint64_t index) { return 1 + index * 7919 % 251; }

/// Samples of 1 to 251 bytes.
class SizedSource final : public SourceStage {
 public:
  explicit SizedSource(std::uint64_t samples, bool knows = true)
      : samples_(samples), knows_(knows) {}
  [[nodiscard]] std::uint64_t size() const override { return samples_; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {4}}}; }
  void read(Sample& out, const SampleContext&) const override {
    std::ranges::fill(out.field("image").resize_as<std::uint8_t>({4}), std::uint8_t{1});
  }
  [[nodiscard]] std::uint64_t stored_bytes(SampleIndex index) const override {
    return knows_ ? size_of_sample(index.value) : 0;
  }

 private:
  std::uint64_t samples_;
  bool knows_;
};

struct SizedSet {
  std::uint64_t samples = 1000;
  int group = 16;
  bool drop_last = true;
  bool shuffle = true;
  bool knows = true;
};

Pipeline grouped_over(const SizedSet& set) {
  return PipelineBuilder{}
      .source("read", {"custom.sized", {}, std::make_shared<SizedSource>(set.samples, set.knows)})
      .collate()
      .copy()
      .batch_size(static_cast<std::int64_t>(kGroupedBatch))
      .workers(1)
      .shuffle(set.shuffle)
      .drop_last(set.drop_last)
      .group_by_size(set.group)
      .seed(3)
      .device("cpu")
      .build();
}

/// The samples of an epoch, in order.
std::vector<std::uint64_t> epoch_of(const Pipeline& pipeline, std::uint64_t epoch,
                                    std::uint64_t shift = 0) {
  const GroupedOrder order(pipeline);
  OrderReader reader;
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < epoch_length(pipeline); ++i)
    all.push_back(reader.index(order, epoch, shift, i).value);
  return all;
}

/// Bytes that padding every batch to its largest sample takes.
std::uint64_t bytes_padded(const std::vector<std::uint64_t>& order) {
  std::uint64_t bytes = 0;
  for (std::size_t begin = 0; begin < order.size(); begin += kGroupedBatch) {
    const std::size_t end = std::min(order.size(), begin + kGroupedBatch);
    std::uint64_t largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, size_of_sample(order[i]));
    bytes += largest * (end - begin);
  }
  return bytes;
}

std::uint64_t bytes_stored(const std::vector<std::uint64_t>& order) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t index : order) bytes += size_of_sample(index);
  return bytes;
}

}  // namespace

TEST_CASE("an epoch that is grouped by size has every sample once, wherever it begins") {
  for (const std::uint64_t shift : {0, 1, 613, 1002}) {
    CAPTURE(shift);
    const auto all = epoch_of(grouped_over({.samples = 1003, .drop_last = false}), 2, shift);
    CHECK(all.size() == 1003);
    CHECK(std::set<std::uint64_t>(all.begin(), all.end()).size() == 1003);
  }
}

TEST_CASE("batches of a window take neighbours of its samples, sorted by size") {
  const Pipeline pipeline = grouped_over({.samples = 1000});
  const auto all = epoch_of(pipeline, 0);
  constexpr std::size_t kWindow = 16 * kGroupedBatch;
  for (std::size_t begin = 0; begin + kWindow <= all.size(); begin += kWindow) {
    std::vector<std::vector<std::uint64_t>> batches;
    for (std::size_t b = 0; b < 16; ++b) {
      std::vector<std::uint64_t>& batch = batches.emplace_back();
      for (std::size_t i = 0; i < kGroupedBatch; ++i)
        batch.push_back(size_of_sample(all[begin + b * kGroupedBatch + i]));
      CHECK(std::ranges::is_sorted(batch));
    }
    // Batches are in a random order, but none overlaps another.
    CHECK_FALSE(std::ranges::is_sorted(batches));
    std::ranges::sort(batches);
    for (std::size_t b = 1; b < 16; ++b) CHECK(batches[b - 1].back() <= batches[b].front());
  }
}

TEST_CASE("grouping takes most of the padding away, and every epoch has other batches") {
  const Pipeline grouped = grouped_over({.samples = 4000});
  const auto first = epoch_of(grouped, 0);
  const auto second = epoch_of(grouped, 1);
  const auto mixed = epoch_of(grouped_over({.samples = 4000, .group = 1}), 0);
  const double used = static_cast<double>(bytes_stored(first));
  CHECK(static_cast<double>(bytes_padded(mixed)) / used > 1.6);
  CHECK(static_cast<double>(bytes_padded(first)) / used < 1.1);
  CHECK(static_cast<double>(bytes_padded(second)) / used < 1.1);
  CHECK(first != second);
  std::set<std::uint64_t> together(first.begin(), first.begin() + kGroupedBatch);
  const auto place = std::ranges::find(second, first[0]) - second.begin();
  const auto begin =
      second.begin() + place / std::ptrdiff_t{kGroupedBatch} * std::ptrdiff_t{kGroupedBatch};
  CHECK(std::count_if(begin, begin + kGroupedBatch,
                      [&](std::uint64_t index) { return together.contains(index); }) < 4);
}

TEST_CASE("samples that make no whole batch are not always the largest") {
  const Pipeline pipeline = grouped_over({.samples = 132, .drop_last = false});
  std::uint64_t last = 0;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const auto all = epoch_of(pipeline, epoch);
    for (std::size_t i = 128; i < 132; ++i) last += size_of_sample(all[i]);
  }
  const double mean = static_cast<double>(last) / 80;
  CHECK(mean > 80);
  CHECK(mean < 170);
}

TEST_CASE("caches, blocks and the executor agree on a grouped order") {
  const Pipeline pipeline = grouped_over({.samples = 1003});
  LiveOrder order(pipeline, 7);
  const Sampler sampler = sampler_of(pipeline);
  const GroupedOrder grouped(pipeline);
  OrderReader reader;
  std::set<std::uint64_t> seen;
  for (int block = 0; block < 25; ++block) {
    const std::uint64_t position = order.reserve(5);
    const LoadRequest request = order.request(position);
    const LoadProgram program(pipeline, sampler, request, &grouped);
    const std::vector<SampleIndex> listed = order.indices(position, 5);
    std::size_t i = 0;
    for (std::uint64_t b = 0; b < 5; ++b) {
      const BatchRange range = program.range(b);
      LoadCursor at = program.cursor(range.first_position);
      for (std::int64_t row = 0; row < range.size; ++row, at.advance(), ++i)
        CHECK(program.index(at, reader) == listed.at(i));
    }
    for (const SampleIndex index : listed) seen.insert(index.value);
  }
  CHECK(seen.size() == 1000);
}

TEST_CASE("threads that ask at the same time get the same order") {
  const Pipeline pipeline = grouped_over({.samples = 20'000});
  const GroupedOrder order(pipeline);
  std::vector<std::vector<std::uint64_t>> orders(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : orders) {
      threads.emplace_back([&order, &mine] {
        OrderReader reader;
        for (std::uint64_t i = 0; i < 20'000; ++i)
          mine.push_back(reader.index(order, 0, 0, i).value);
      });
    }
  }
  for (const auto& other : orders) CHECK(other == orders[0]);
}

TEST_CASE("grouping is refused where sizes are not known, or the order must stay") {
  CHECK(has(usage_error([] { (void)grouped_over({.knows = false}); }), "does not know the sizes"));
  CHECK(has(usage_error([] { (void)grouped_over({.shuffle = false}); }), "shuffle"));
  CHECK(has(usage_error([] { (void)grouped_over({.group = -1}); }), "group_by_size is -1"));
}
