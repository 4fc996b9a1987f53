// What a source holds in memory is asked for one sample ahead, and changes nothing else.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;

namespace {

constexpr std::uint64_t kHeldSamples = 37;

/// Samples of four bytes. Lists what it was asked for.
class HeldSource final : public SourceStage {
 public:
  explicit HeldSource(bool holds) : holds_(holds) {}

  [[nodiscard]] std::uint64_t size() const override { return kHeldSamples; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {4}}}; }
  void read(Sample& out, const SampleContext& context) const override {
    const auto bytes = out.field("image").resize_as<std::uint8_t>({4});
    std::ranges::fill(bytes, static_cast<std::uint8_t>(context.index().value));
    const std::lock_guard lock(mutex_);
    was_asked_.push_back(std::ranges::find(asked_, context.index().value) != asked_.end());
  }
  [[nodiscard]] std::uint64_t stored_bytes(SampleIndex index) const override {
    return 1 + index.value % 5;
  }
  [[nodiscard]] std::span<const std::byte> held(SampleIndex index) const override {
    if (!holds_) return {};
    const std::lock_guard lock(mutex_);
    asked_.push_back(index.value);
    return std::span(memory_).subspan(4 * index.value, 4);
  }
  [[nodiscard]] std::vector<std::uint64_t> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  /// Per sample that was read: whether it had been asked for.
  [[nodiscard]] std::vector<bool> was_asked() const {
    const std::lock_guard lock(mutex_);
    return was_asked_;
  }

 private:
  bool holds_;
  std::array<std::byte, 4 * kHeldSamples> memory_{};
  mutable std::mutex mutex_;
  mutable std::vector<std::uint64_t> asked_;
  mutable std::vector<bool> was_asked_;
};

/// Keeps all samples, and lists what it was asked to hold.
class HeldCache final : public CacheStage {
 public:
  bool find(SampleIndex index, Sample& out) const override {
    const std::lock_guard lock(mutex_);
    const Sample& kept = kept_[index.value];
    if (kept.fields().empty()) return false;
    out.begin_from(kept);
    return true;
  }
  [[nodiscard]] std::span<const std::byte> held(SampleIndex index) const override {
    const std::lock_guard lock(mutex_);
    const Sample& kept = kept_[index.value];
    asked_.push_back(index.value);
    if (kept.fields().empty()) return {};
    ++had_;
    return {kept.fields().front().field.data(), kept.fields().front().field.byte_size()};
  }
  [[nodiscard]] CacheUse use() const override { return {}; }
  [[nodiscard]] std::size_t asked() const {
    const std::lock_guard lock(mutex_);
    return asked_.size();
  }
  /// How often it was asked for a sample that it had.
  [[nodiscard]] std::size_t had() const {
    const std::lock_guard lock(mutex_);
    return had_;
  }

 private:
  void keep(const Sample& sample) const override {
    const std::lock_guard lock(mutex_);
    Sample& kept = kept_[sample.index().value];
    if (kept.fields().empty()) kept.copy_from(sample);
  }

  mutable std::mutex mutex_;
  mutable std::array<Sample, kHeldSamples> kept_;
  mutable std::vector<std::uint64_t> asked_;
  mutable std::size_t had_ = 0;
};

struct Run {
  std::shared_ptr<HeldSource> source;
  std::vector<std::uint64_t> indices;
  std::vector<int> values;
};

Run run_held(bool holds, int batches, const LoadRequest& request = {}, int group_by_size = 0,
             const std::shared_ptr<HeldCache>& cache = nullptr) {
  Run result{std::make_shared<HeldSource>(holds), {}, {}};
  PipelineBuilder builder;
  builder.source("read", BuiltStage{"read.held", {}, result.source});
  if (cache) builder.stage("cache", {"cache.held", {.caches = true}, cache});
  builder.collate().copy();
  builder.batch_size(8).drop_last(false).seed(3);
  if (group_by_size > 0) builder.group_by_size(group_by_size);
  const Pipeline pipeline = builder.build();
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = 2, .prefetch = 1, .grain = 4});
  executor.start(request);
  for (int i = 0; i < batches; ++i) {
    const ReadyBatch ready = executor.next({});
    for (const SampleIndex index : ready.batch->indices) result.indices.push_back(index);
    const auto& image = ready.batch->fields.front().tensor;
    for (std::int64_t row = 0; row < ready.batch->size; ++row) {
      result.values.push_back(std::to_integer<int>(image.data[4 * row]));
    }
    executor.release(ready, nullptr);
  }
  return result;
}

}  // namespace

TEST_CASE("samples that a source holds come in the same order, and are right") {
  const Run held = run_held(true, 15);
  const Run other = run_held(false, 15);
  CHECK(held.indices == other.indices);
  REQUIRE(held.values.size() == held.indices.size());
  for (std::size_t i = 0; i < held.values.size(); ++i) {
    REQUIRE(held.values[i] == static_cast<int>(held.indices[i]));
  }
}

TEST_CASE("most samples were asked for before they are read") {
  const Run held = run_held(true, 15);
  const std::vector<bool> asked = held.source->was_asked();
  // The first of each grain of four is asked for by the worker that had the grain before.
  CHECK(4 * std::ranges::count(asked, true) >= 3 * static_cast<std::ptrdiff_t>(asked.size()));
}

TEST_CASE("no sample beyond the source is asked for, at the end of an epoch either") {
  const Run held = run_held(true, 15);
  CHECK(std::ranges::max(held.source->asked()) < kHeldSamples);
}

TEST_CASE("the order of a request's own samples is kept") {
  const std::vector<SampleIndex> own{{5}, {36}, {0}, {5}, {7}, {1}, {2}, {3}};
  LoadRequest request;
  request.indices = own;
  const Run held = run_held(true, 3, request);
  const std::vector<std::uint64_t> once{5, 36, 0, 5, 7, 1, 2, 3};
  std::vector<std::uint64_t> thrice;
  for (int i = 0; i < 3; ++i) thrice.insert(thrice.end(), once.begin(), once.end());
  CHECK(held.indices == thrice);
}

TEST_CASE("a source that holds nothing is not asked per sample") {
  CHECK(run_held(false, 5).source->asked().empty());
}

TEST_CASE("in an order of groups, which is made window by window, nothing is asked for") {
  CHECK(run_held(true, 5, {}, 2).source->asked().size() <= 2);
}

TEST_CASE("a cache is asked for what it holds, before the source") {
  const auto cache = std::make_shared<HeldCache>();
  const Run cached = run_held(true, 30, {}, 0, cache);
  const Run other = run_held(false, 30);
  CHECK(cached.indices == other.indices);
  CHECK(cached.values == other.values);
  const std::size_t from_source = cached.source->asked().size();
  CHECK(cache->had() > 0);
  CHECK(from_source > 0);
  // Once per run the source is asked whether it holds anything at all.
  CHECK(cache->asked() <= from_source + cache->had());
}
