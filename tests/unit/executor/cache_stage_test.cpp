// Cache stages in a chain: what they keep is not made again, and batches are what they were
// without.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/executor.hpp"
#include "cachebisect/replay/cache/fill_stages.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::uint64_t kEpochSamples = 40;
constexpr double kGb = 1e-9;  ///< of a byte

struct Built {
  Pipeline pipeline;
  std::shared_ptr<CacheStage> cache;  ///< null: none
};

struct CachedChain {
  bool cached = true;
  bool last = false;  ///< the cache is the last sample stage
  bool vary = false;
  double limit_bytes = 1e6;
  std::string evict = "none";
  std::int64_t batch_size = 8;
  std::function<void(std::uint64_t)> on_read;
};

Built cached_chain(CachedChain options) {
  PipelineBuilder builder;
  builder.source("read", toy_source({.samples = kEpochSamples,
                                     .vary = options.vary,
                                     .on_read = std::move(options.on_read)}));
  Built built{.pipeline = {}, .cache = nullptr};
  if (options.cached) {
    built.cache = make_stage<CacheStage>(
        "cache.memory", {{"limit_gb", options.limit_bytes * kGb}, {"evict", options.evict}});
    builder.stage("cache", {"cache.memory", {.allocates = true, .caches = true}, built.cache});
  }
  if (!options.last) builder.stage("noise", toy_noise(true));
  builder.collate("NCHW").copy().batch_size(options.batch_size).seed(5);
  built.pipeline = builder.build();
  return built;
}

std::vector<std::byte> bytes_of(Executor& executor, int batches) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < batches; ++i) {
    const ReadyBatch ready = executor.next({});
    for (const SampleIndex index : ready.batch->indices) {
      bytes.push_back(static_cast<std::byte>(index.value));
    }
    for (const BatchField& field : ready.batch->fields) {
      bytes.insert(bytes.end(), field.tensor.data, field.tensor.data + field.tensor.byte_size());
    }
    executor.release(ready, nullptr);
  }
  return bytes;
}

std::vector<std::byte> load(const Pipeline& pipeline, int workers, int batches) {
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = workers});
  executor.start({});
  return bytes_of(executor, batches);
}

constexpr int kEpoch = kEpochSamples / 8;

}  // namespace

TEST_CASE("a kept sample is not made again, and every batch is as it is without a cache") {
  for (const bool last : {false, true}) {
    for (const int workers : {0, 1, 3}) {
      CAPTURE(last);
      CAPTURE(workers);
      std::atomic<int> reads = 0;
      const Built built = cached_chain({.last = last, .on_read = [&](std::uint64_t) { ++reads; }});
      const std::vector<std::byte> cached = load(built.pipeline, workers, 3 * kEpoch);
      CHECK(cached ==
            load(cached_chain({.cached = false, .last = last}).pipeline, workers, 3 * kEpoch));
      // Workers run ahead into the next epoch before each sample of the first is kept.
      CHECK(reads >= static_cast<int>(kEpochSamples));
      const int before = reads;
      CHECK(load(built.pipeline, workers, 3 * kEpoch) == cached);
      CHECK(reads == before);
      CHECK(built.cache->use().samples == kEpochSamples);
      CHECK_FALSE(built.cache->use().full);
    }
  }
}

TEST_CASE("samples of different shapes are served as they were") {
  const auto chain = [](bool cached) {
    return cached_chain({.cached = cached, .last = true, .vary = true, .batch_size = 1}).pipeline;
  };
  const Pipeline cached = chain(true);
  const std::vector<std::byte> expected = load(chain(false), 2, 2 * kEpochSamples);
  CHECK(load(cached, 2, 2 * kEpochSamples) == expected);
  CHECK(load(cached, 2, 2 * kEpochSamples) == expected);
}

TEST_CASE("the limit holds, and what does not fit is made each time") {
  for (const std::string evict : {"none", "fifo", "lru"}) {
    CAPTURE(evict);
    // Places of samples that stay take 33 kB from the first one on.
    const double limit = evict == "none" ? 50'000 : 20'000;
    std::atomic<int> reads = 0;
    const Built built = cached_chain(
        {.limit_bytes = limit, .evict = evict, .on_read = [&](std::uint64_t) { ++reads; }});
    const std::vector<std::byte> expected =
        load(cached_chain({.cached = false}).pipeline, 2, 3 * kEpoch);
    CHECK(load(built.pipeline, 2, 3 * kEpoch) == expected);
    const CacheUse use = built.cache->use();
    CHECK(use.full);
    CHECK(use.bytes <= use.limit_bytes);
    CHECK(use.limit_bytes == static_cast<std::uint64_t>(limit));
    CHECK(use.samples < kEpochSamples);
    CHECK(use.bytes + 2 * use.bytes / use.samples > use.limit_bytes);
    reads = 0;
    CHECK(load(built.pipeline, 0, kEpoch) ==
          std::vector<std::byte>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(
                                                                          expected.size() / 3)));
    if (evict == "none") CHECK(reads == static_cast<int>(kEpochSamples - use.samples));
  }
}

TEST_CASE("a cache that is filled before anything is measured holds an epoch, or what it can") {
  const auto device = make_cpu_device();
  std::atomic<int> reads = 0;
  const Built whole = cached_chain({.on_read = [&](std::uint64_t) { ++reads; }});
  fill_cache_stages(whole.pipeline, *device, {});
  CHECK(whole.cache->use().samples == kEpochSamples);
  CHECK(reads == static_cast<int>(kEpochSamples));
  fill_cache_stages(whole.pipeline, *device, {});
  CHECK(reads == static_cast<int>(kEpochSamples));
  const Built part = cached_chain({.limit_bytes = 50'000});
  fill_cache_stages(part.pipeline, *device, {});
  CHECK(part.cache->use().full);
  CHECK_NOTHROW(fill_cache_stages(cached_chain({.cached = false}).pipeline, *device, {}));
}

TEST_CASE("filling is stopped on request") {
  const auto device = make_cpu_device();
  std::stop_source stop;
  const Built built = cached_chain({.on_read = [&](std::uint64_t) { stop.request_stop(); }});
  CHECK(
      error_message([&] { fill_cache_stages(built.pipeline, *device, {.stop = stop.get_token()}); },
                    ErrorKind::interrupted) != "");
}

TEST_CASE("a sample that fails is not kept") {
  const Built built = cached_chain({.on_read = [](std::uint64_t index) {
    if (index == 7) throw Error(ErrorKind::data, "damaged");
  }});
  CHECK_THROWS_AS((void)load(built.pipeline, 0, kEpoch), Error);
  Sample out;
  CHECK_FALSE(built.cache->find({7}, out));
}

TEST_CASE("a cache after a random stage is refused, unless its draws may be frozen") {
  const auto chain = [](bool frozen) {
    PipelineBuilder builder;
    builder.source("read", toy_source({.samples = kEpochSamples})).stage("noise", toy_noise(true));
    const std::shared_ptr<CacheStage> cache =
        make_stage<CacheStage>("cache.memory", {{"limit_gb", 0.001}, {"frozen", frozen}});
    builder.stage("cache", {"cache.memory", {.caches = true}, cache});
    return builder.collate("NCHW").copy().batch_size(8).shuffle(false).build();
  };
  const std::string refused = usage_error([&] { (void)chain(false); });
  CHECK(has(refused, "'cache'"));
  CHECK(has(refused, "before 'noise'"));
  CHECK(has(refused, "frozen"));
  const std::vector<std::byte> epochs = load(chain(true), 0, 2 * kEpoch);
  const auto half = static_cast<std::ptrdiff_t>(epochs.size() / 2);
  CHECK(std::equal(epochs.begin(), epochs.begin() + half, epochs.begin() + half));
}

TEST_CASE("with reuse random stages may stand before a cache, and draw anew now and then") {
  std::array<std::atomic<int>, kEpochSamples> reads{};
  PipelineBuilder builder;
  builder
      .source("read", toy_source({.samples = kEpochSamples,
                                  .on_read = [&](std::uint64_t index) { ++reads.at(index); }}))
      .stage("noise", toy_noise(true));
  const std::shared_ptr<CacheStage> cache =
      make_stage<CacheStage>("cache.memory", {{"limit_gb", 0.001}, {"reuse", 1}});
  builder.stage("cache", {"cache.memory", {.caches = true}, cache});
  const auto pipeline = builder.collate("NCHW").copy().batch_size(8).shuffle(false).build();
  static_cast<void>(load(pipeline, 0, 4 * kEpoch));
  // Half of the samples are made anew in the second epoch, the others in the third.
  for (std::size_t i = 0; i < kEpochSamples; ++i) CHECK(reads.at(i) == (i % 2 == 0 ? 2 : 3));
}

TEST_CASE("many threads may keep and find at once") {
  for (const char* const evict : {"none", "fifo", "lru"}) {
    const std::unique_ptr<CacheStage> cache = make_stage<CacheStage>(
        "cache.memory", {{"limit_gb", 60'000 * kGb}, {"evict", std::string(evict)}});
    std::atomic<int> wrong = 0;
    const auto work = [&] {
      Arena arena;
      Sample in;
      Sample out;
      for (int pass = 0; pass < 3; ++pass) {
        for (std::uint64_t i = 0; i < 200; ++i) {
          if (cache->find({i}, out)) {
            wrong += out.field("x").as_integer() == static_cast<std::int64_t>(i) ? 0 : 1;
            continue;
          }
          in.set_index({i});
          in.field("x").set<std::int64_t>(static_cast<std::int64_t>(i));
          cache->process(in, out, SampleContext({.index = i}, arena));
        }
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(cache->use().bytes <= 60'000);
  }
}
