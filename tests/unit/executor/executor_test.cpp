#include "cachebisect/executor/executor.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "support/errors.hpp"
#include "support/passed_time.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/sampler.hpp"

using namespace cachebisect;
using test::error_message;
using test::has;
using test::has_passed;

namespace {

struct ExecutorChain {
  test::ToySourceOptions source{};
  std::string layout = "NCHW";
  bool strided = true;
  bool batch_stage = false;
  std::int64_t batch_size = 7;
  bool drop_last = true;
  std::function<void(const Sample&)> hook;
  bool skip = false;
};

Pipeline executor_chain(ExecutorChain options = {}) {
  PipelineBuilder builder;
  builder.source("read", test::toy_source(std::move(options.source)));
  builder.stage("noise", test::toy_noise(options.strided));
  if (options.hook) builder.stage("hook", test::toy_hook(std::move(options.hook)));
  if (options.skip) builder.skip_damaged();
  builder.stage("more", test::toy_noise(!options.strided)).collate(options.layout);
  if (options.batch_stage) builder.stage("count", test::toy_count_up());
  return builder.copy().batch_size(options.batch_size).drop_last(options.drop_last).seed(5).build();
}

/// A copy of a batch's content.
struct Copied {
  std::vector<std::uint64_t> indices;
  std::vector<Shape> shapes;
  std::vector<std::byte> bytes;
  friend bool operator==(const Copied&, const Copied&) = default;
};

Copied copy_of(const HostBatch& batch) {
  Copied copy;
  for (const SampleIndex index : batch.indices) copy.indices.push_back(index);
  CHECK(static_cast<std::size_t>(batch.size) == batch.indices.size());
  for (const BatchField& field : batch.fields) {
    copy.shapes.push_back(field.tensor.shape);
    copy.bytes.insert(copy.bytes.end(), field.tensor.data,
                      field.tensor.data + field.tensor.byte_size());
  }
  return copy;
}

std::vector<Copied> take(Executor& executor, int batches) {
  std::vector<Copied> all;
  for (int i = 0; i < batches; ++i) {
    const ReadyBatch ready = executor.next({});
    CHECK(ready.sequence == static_cast<std::uint64_t>(i));
    all.push_back(copy_of(*ready.batch));
    executor.release(ready, nullptr);
  }
  return all;
}

std::vector<Copied> run(const Pipeline& pipeline, const ExecutorOptions& options,
                        const LoadRequest& request, int batches) {
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, options);
  executor.start(request);
  return take(executor, batches);
}

}  // namespace

TEST_CASE("batches come in the sampler's order, epoch after epoch") {
  const Pipeline pipeline = executor_chain({.source = {.samples = 23}});
  const Sampler sampler(23, 5, true);
  for (const int workers : {0, 1, 2, 4}) {
    CAPTURE(workers);
    const auto batches = run(pipeline, {.workers = workers}, {.first_position = 7}, 8);
    std::uint64_t position = 7;
    for (const Copied& batch : batches) {
      REQUIRE(batch.indices.size() == 7);
      for (const std::uint64_t index : batch.indices) {
        CHECK(index == sampler.index(position / 21, position % 21));
        ++position;
      }
    }
  }
}

TEST_CASE("without drop_last an epoch ends with a smaller batch and holds every sample once") {
  const Pipeline pipeline = executor_chain({.source = {.samples = 23}, .drop_last = false});
  for (const int workers : {0, 2}) {
    const auto batches = run(pipeline, {.workers = workers}, {.first_position = 23}, 8);
    for (const std::size_t epoch : {0U, 1U}) {
      std::set<std::uint64_t> seen;
      for (std::size_t i = 0; i < 4; ++i) {
        const Copied& batch = batches[4 * epoch + i];
        CHECK(batch.indices.size() == (i == 3 ? 2 : 7));
        CHECK(batch.shapes[0][0] == (i == 3 ? 2 : 7));
        seen.insert(batch.indices.begin(), batch.indices.end());
      }
      CHECK(seen.size() == 23);
    }
  }
  const Pipeline tiny =
      executor_chain({.source = {.samples = 3}, .batch_size = 10, .drop_last = false});
  CHECK(run(tiny, {.workers = 2}, {}, 3)[2].indices.size() == 3);
}

TEST_CASE(
    "the bytes are the same at any worker count, grain, layout of the work and kind of write") {
  for (const std::string layout : {"NHWC", "NCHW"}) {
    for (const bool vary : {false, true}) {
      CAPTURE(layout);
      CAPTURE(vary);
      // Images of different heights cannot be stacked, so the batch size is 1.
      const auto make = [&](bool strided) {
        return executor_chain({.source = {.vary = vary},
                               .layout = layout,
                               .strided = strided,
                               .batch_stage = true,
                               .batch_size = vary ? 1 : 13});
      };
      const auto expected = run(make(true), {.workers = 0}, {}, 20);
      for (const int workers : {0, 1, 2, 4}) {
        for (const int grain : {1, 5, 100}) {
          CHECK(run(make(false), {.workers = workers, .prefetch = 1, .grain = grain}, {}, 20) ==
                expected);
        }
      }
    }
  }
}

TEST_CASE("replay from every boundary gives the batches of the live run") {
  for (const bool vary : {false, true}) {
    const Pipeline pipeline =
        executor_chain({.source = {.vary = vary}, .batch_stage = true, .batch_size = vary ? 1 : 6});
    const auto count = static_cast<std::size_t>(4 * pipeline.batch_size());
    std::vector<SampleIndex> indices;
    for (std::size_t i = 0; i < count; ++i) indices.push_back({(i * 17) % 100});
    std::vector<std::vector<Sample>> samples(4);
    for (auto& level : samples) level.resize(count);
    std::vector<std::vector<OwnedHostBatch>> owned(6);
    std::vector<std::vector<HostBatch>> batches(6);

    const auto device = make_cpu_device();
    Executor executor(pipeline, *device, {.workers = 2});
    std::mutex mutex;
    LoadRequest fill;
    fill.indices = indices;
    fill.epoch = 3;
    fill.on_sample = [&](std::size_t stage, std::uint64_t position, const Sample& sample) {
      if (position < count) samples[stage][position].copy_from(sample);
    };
    fill.on_batch = [&](std::size_t stage, std::uint64_t sequence, const HostBatch& batch) {
      const std::scoped_lock lock(mutex);
      if (sequence >= 4) return;
      owned[stage].reserve(4);
      batches[stage].resize(4);
      OwnedHostBatch& copy = owned[stage].emplace_back(host_memory());
      copy.begin_from(batch);
      for (std::size_t i = 0; i < batch.fields.size(); ++i) {
        const ConstTensorView from = batch.fields[i].tensor;
        copy_tensor(from, copy.resize_field(i, batch.fields[i].name, from.dtype, from.shape));
      }
      batches[stage][sequence] = copy.batch;
    };
    executor.start(fill);
    const auto live = take(executor, 8);
    executor.halt();
    CHECK(std::equal(live.begin(), live.begin() + 4, live.begin() + 4));

    for (std::size_t boundary = 1; boundary <= 5; ++boundary) {
      CAPTURE(boundary);
      LoadRequest request;
      request.boundary = boundary;
      request.epoch = 3;
      if (boundary < 4) {
        request.cache.samples = samples[boundary];
      } else {
        request.cache.batches = batches[boundary];
      }
      executor.start(request);
      CHECK(take(executor, 8) == live);
      executor.halt();
      request.first_position = 2 * static_cast<std::uint64_t>(pipeline.batch_size());
      executor.start(request);
      CHECK(take(executor, 1)[0] == live[2]);
      executor.halt();
    }
    // Bypass: any stage's output comes from the cache, and the next stages run on it.
    for (std::size_t stage = 1; stage <= 5; ++stage) {
      CAPTURE(stage);
      LoadRequest request;
      request.indices = indices;
      request.epoch = 3;
      request.bypass_stage = stage;
      if (stage < 4) {
        request.bypass_cache.samples = samples[stage];
      } else {
        request.bypass_cache.batches = batches[stage];
      }
      executor.start(request);
      CHECK(take(executor, 4) == std::vector<Copied>(live.begin(), live.begin() + 4));
      executor.halt();
    }
  }
}

TEST_CASE("workers wait when no slot is free") {
  std::atomic<int> reads{0};
  const Pipeline pipeline =
      executor_chain({.source = {.on_read = [&](std::uint64_t) { ++reads; }}, .batch_size = 4});
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = 2, .prefetch = 1});
  REQUIRE(executor.slots() == 4);
  executor.start({});
  std::vector<ReadyBatch> held;
  for (int i = 0; i < 4; ++i) held.push_back(executor.next({}));
  CHECK(reads == 16);
  CHECK(executor.try_next().batch == nullptr);
  executor.release(held[0], nullptr);
  CHECK(executor.next({}).sequence == 4);
  CHECK(reads == 20);
}

TEST_CASE("a slot is refilled only after the event given at its release") {
  const auto device = make_emulated_device({});
  const auto stream = device->make_stream();
  const auto event = device->make_event();
  std::atomic<bool> released{false};
  std::atomic<int> early{0};
  std::atomic<int> late{0};
  const auto count = [&](std::uint64_t) {
    if (released) ++(has_passed(device->completion_seconds(*event)) ? late : early);
  };
  const Pipeline pipeline = executor_chain({.source = {.on_read = count}, .batch_size = 2});
  for (const int workers : {0, 2}) {
    CAPTURE(workers);
    released = false;
    late = 0;
    Executor executor(pipeline, *device, {.workers = workers, .prefetch = 0});
    executor.start({});
    std::vector<ReadyBatch> held;
    for (int i = 0; i < executor.slots(); ++i) held.push_back(executor.next({}));
    device->enqueue_work(*stream, 0.02);
    device->record(*event, *stream);
    released = true;
    executor.release(held[0], event.get());
    (void)executor.next({});
    CHECK(late > 0);
    CHECK(early == 0);
  }
}

TEST_CASE(
    "next() throws a stage's error with stage, sample and path, and the executor can be used "
    "again") {
  std::atomic<bool> broken{true};
  const Pipeline pipeline = executor_chain({.hook = [&](const Sample& sample) {
    if (broken && sample.index() % 10 == 3) throw Error(ErrorKind::data, "the bytes are damaged");
  }});
  const auto device = make_cpu_device();
  for (const int workers : {0, 1, 4}) {
    CAPTURE(workers);
    broken = true;
    Executor executor(pipeline, *device, {.workers = workers});
    executor.start({});
    const std::string text = error_message([&] { take(executor, 100); }, ErrorKind::data);
    CHECK(has(text, "stage 'hook' (augment.hook): sample "));
    CHECK(has(text, "3 (toy/file): the bytes are damaged"));
    executor.halt();
    broken = false;
    executor.start({});
    CHECK(take(executor, 20).size() == 20);
  }
}

TEST_CASE("an exception of any type becomes an Error(data)") {
  const Pipeline pipeline =
      executor_chain({.hook = [](const Sample&) { throw std::runtime_error("from a library"); }});
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = 2});
  executor.start({});
  CHECK(has(error_message([&] { take(executor, 1); }, ErrorKind::data), "from a library"));
}

TEST_CASE("an output that differs from its declaration is named") {
  auto read = [](SampleIndex index, Sample& out) {
    out.field("image").resize_as<std::uint8_t>({index == 7 ? 3 : 2, 2, 1});
  };
  const Pipeline pipeline = PipelineBuilder{}
                                .source("files", 100, read)
                                .collate()
                                .copy()
                                .batch_size(10)
                                .shuffle(false)
                                .build();
  const std::string text =
      error_message([&] { run(pipeline, {.workers = 1}, {}, 1); }, ErrorKind::data);
  CHECK(has(text, "stage 'files' (read.callable): sample 7"));
  CHECK(has(text, "[3, 2, 1]"));
  CHECK(has(text, "[2, 2, 1]"));
}

TEST_CASE("samples that differ within a batch are both named") {
  const Pipeline pipeline = executor_chain({.source = {.vary = true}});
  const std::string text =
      error_message([&] { run(pipeline, {.workers = 2}, {}, 1); }, ErrorKind::data);
  CHECK(has(text, "stage 'collate' (collate.stack): field 'image' cannot be stacked"));
  CHECK(has(text, "collate.pad"));
}

TEST_CASE("the replacement of a damaged sample depends only on its position") {
  const auto damaged = [](const Sample& sample) {
    if (sample.index() % 50 == 3) throw Error(ErrorKind::data, "damaged");
  };
  const Pipeline pipeline =
      executor_chain({.source = {.samples = 1000}, .hook = damaged, .skip = true});
  const Sampler sampler(1000, 5, true);
  const auto expected = run(pipeline, {.workers = 0}, {}, 40);
  std::uint64_t position = 0;
  int replaced = 0;
  for (const Copied& batch : expected) {
    for (const std::uint64_t index : batch.indices) {
      if (sampler.index(0, position) % 50 == 3) {
        CHECK(index == sampler.replacement(0, position, 1));
        ++replaced;
      } else {
        CHECK(index == sampler.index(0, position));
      }
      ++position;
    }
  }
  CHECK(replaced > 0);
  for (const int workers : {1, 4}) CHECK(run(pipeline, {.workers = workers}, {}, 40) == expected);

  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = 0});
  executor.start({});
  take(executor, 40);
  const LoadCounters counters = executor.counters();
  CHECK(counters.skipped == static_cast<std::uint64_t>(replaced));
  CHECK(has(counters.first_skipped.at(0), "(toy/file): damaged"));
  executor.halt();
  executor.start({});
  CHECK(executor.counters().skipped == 0);
}

TEST_CASE("too many damaged samples end the run") {
  const auto device = make_cpu_device();
  const auto run_until_error = [&](std::function<void(const Sample&)> hook,
                                   ErrorKind kind = ErrorKind::data) {
    const Pipeline pipeline =
        executor_chain({.source = {.samples = 10000}, .hook = std::move(hook), .skip = true});
    // One worker, because two could exceed the share before either runs out of replacements.
    Executor executor(pipeline, *device, {.workers = 1});
    executor.start({});
    return error_message([&] { take(executor, 1000); }, kind);
  };
  CHECK(has(run_until_error([](const Sample& sample) {
              if (sample.index() % 10 == 3) throw Error(ErrorKind::data, "damaged");
            }),
            "more than 5%"));
  CHECK(has(run_until_error([](const Sample&) { throw Error(ErrorKind::data, "damaged"); }),
            "8 replacements"));
  // Only damaged samples are skipped.
  CHECK(has(run_until_error([](const Sample&) { throw Error(ErrorKind::usage, "nonsense"); },
                            ErrorKind::usage),
            "nonsense"));
}

TEST_CASE("a request to stop wakes next()") {
  for (const int workers : {0, 2}) {
    CAPTURE(workers);
    std::stop_source stop;
    std::latch waiting(1);
    std::atomic<bool> go{false};
    const Pipeline pipeline = executor_chain({.hook = [&](const Sample&) {
      // Blocks until the stop is requested, so that next() must wait.
      go.wait(false);
    }});
    const auto device = make_cpu_device();
    Executor executor(pipeline, *device, {.workers = workers});
    executor.start({});
    std::thread stopper([&] {
      waiting.wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      stop.request_stop();
      if (workers == 0) {
        go = true;
        go.notify_all();
      }
    });
    waiting.count_down();
    CHECK_THROWS_AS(executor.next(stop.get_token()), Error);
    go = true;
    go.notify_all();
    stopper.join();
    CHECK(has(error_message([&] { (void)executor.next(stop.get_token()); }, ErrorKind::interrupted),
              "stopped"));
    executor.halt();
    executor.start({});
    CHECK(take(executor, 3).size() == 3);
  }
}

TEST_CASE("the executor starts and halts a few hundred times with batches left in the ring") {
  const Pipeline pipeline = executor_chain();
  const auto expected = run(pipeline, {.workers = 0}, {}, 5);
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = 3, .prefetch = 1});
  for (int cycle = 0; cycle < 300; ++cycle) {
    executor.start({});
    const auto batches = take(executor, cycle % 6);
    REQUIRE(std::equal(batches.begin(), batches.end(), expected.begin()));
    executor.halt();
    executor.halt();
  }
  executor.start({});
  CHECK_THROWS_AS(executor.start({}), Error);
}

TEST_CASE("two executors run at once") {
  const Pipeline pipeline = executor_chain();
  const auto expected = run(pipeline, {.workers = 0}, {}, 50);
  std::vector<std::vector<Copied>> results(2);
  {
    std::vector<std::jthread> trainers;
    for (auto& result : results) {
      trainers.emplace_back([&] { result = run(pipeline, {.workers = 2}, {}, 50); });
    }
  }
  CHECK(results[0] == expected);
  CHECK(results[1] == expected);
}

TEST_CASE("counters add up with and without observation") {
  const Pipeline pipeline = executor_chain(
      {.hook = [](const Sample&) { std::this_thread::sleep_for(std::chrono::microseconds(200)); }});
  const auto device = make_cpu_device();
  for (const int workers : {0, 2}) {
    for (const bool observe : {true, false}) {
      Executor executor(pipeline, *device, {.workers = workers, .prefetch = 0});
      LoadRequest request;
      request.observe = observe;
      executor.start(request);
      take(executor, 30);
      executor.halt();
      const LoadCounters counters = executor.counters();
      REQUIRE(counters.stages.size() == 6);
      for (std::size_t i = 0; i < 4; ++i) CHECK(counters.stages[i].samples >= 210);
      CHECK(counters.stages[4].samples >= 210);
      CHECK(counters.stages[5].samples == 0);
      const StageCounters& hook = counters.stages[2];
      // A sleep is never shorter than requested.
      CHECK(hook.busy_seconds >= (observe ? 199e-6 * static_cast<double>(hook.samples) : 0.0));
      if (!observe) CHECK(hook.busy_seconds == 0);
      if (workers == 0) CHECK(counters.starved_seconds > 0);
      CHECK(counters.skipped == 0);
    }
  }
}

TEST_CASE("invalid options are refused") {
  const Pipeline pipeline = executor_chain();
  const auto device = make_cpu_device();
  CHECK_THROWS_AS(Executor(pipeline, *device, {.workers = -1}), Error);
  CHECK_THROWS_AS(
      Executor(pipeline, *device, {.workers = 1, .prefetch = 2, .pinned = false, .grain = 0}),
      Error);
  CHECK_THROWS_AS(Executor(pipeline, *device, {.observation_budget = 0}), Error);
  Executor executor(pipeline, *device, {});
  CHECK_THROWS_AS(executor.start({.boundary = 2}), Error);
  CHECK_THROWS_AS((void)executor.next({}), Error);
}
