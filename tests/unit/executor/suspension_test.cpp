// An executor that is suspended goes on where it was.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "support/errors.hpp"
#include "support/passed_time.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/batch_loader.hpp"
#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;
using test::error_message;
using test::has;

namespace {

constexpr std::int64_t kRows = 8;
/// Requests begin so many samples apart, so that an index tells which one it belongs to.
constexpr std::uint64_t kApart = 10000;

Pipeline chain_with(std::function<void(const Sample&)> hook, LoaderKind loader) {
  PipelineBuilder builder;
  return builder.source("read", test::toy_source({.samples = 10 * 1000 * 1000}))
      .stage("hook", test::toy_hook(std::move(hook)))
      .collate("NCHW")
      .stage("count", test::toy_count_up())
      .copy()
      .batch_size(kRows)
      .shuffle(false)
      .loader(loader)
      .build();
}

/// The samples that stages have loaded.
class Loaded {
 public:
  void add(std::uint64_t index) {
    const std::scoped_lock lock(mutex_);
    ++times_[index];
  }
  [[nodiscard]] std::map<std::uint64_t, int> times() {
    const std::scoped_lock lock(mutex_);
    return times_;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, int> times_;
};

std::vector<std::uint64_t> take_indices(Executor& executor) {
  const ReadyBatch ready = executor.next({});
  std::vector<std::uint64_t> indices;
  for (const SampleIndex index : ready.batch->indices) indices.push_back(index);
  executor.release(ready, nullptr);
  return indices;
}

LoadRequest request_number(std::uint64_t number) { return {.first_position = number * kApart}; }

/// No worker goes beyond the batches that are loaded.
LoadRequest nothing_more() { return {.batches = 0}; }

ExecutorOptions workers_of(int workers, LoaderKind loader) {
  return {.workers = workers, .prefetch = 3, .loader = loader};
}

/// Lets the worker that loads sample `held` wait until it is opened.
class Hold {
 public:
  explicit Hold(std::uint64_t held) : held_(held) {}
  void load(std::uint64_t index) {
    if (index != held_) return;
    arrived_ = true;
    arrived_.notify_all();
    open_.wait(false);
  }
  void await() const { arrived_.wait(false); }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::uint64_t held_;
  std::atomic<bool> arrived_{false};
  std::atomic<bool> open_{false};
};

/// A loader whose worker is paused while it loads sample 2, and returns when `before_opening` has.
class Paused {
 public:
  Paused(LoaderKind loader, const std::function<void()>& before_opening)
      : pipeline_(chain_with([this](const Sample& sample) { load(sample.index()); }, loader)),
        batches_(pipeline_, *device_, workers_of(1, loader)) {
    batches_.begin_run({});
    std::thread worker([this] { batches_.load_until_stopped(0); });
    hold_.await();
    batches_.pause();
    before_opening();
    hold_.open();
    worker.join();
  }

  /// Goes on until the first batch of `request` is ready.
  std::vector<std::uint64_t> first_batch_with(const LoadRequest& request) {
    batches_.go_on(request, 0);
    resumption_.emplace();
    std::thread worker([this] { batches_.load_until_stopped(0); });
    const SlotRing& ring = batches_.ring();
    while (!ring.is_ready(0)) ring.wait_bell(ring.bell());
    batches_.stop();
    worker.join();
    std::vector<std::uint64_t> indices;
    for (const SampleIndex index : ring.slot(0).ready->indices) indices.push_back(index);
    return indices;
  }

  [[nodiscard]] Loaded& loaded() noexcept { return loaded_; }
  /// True if so many seconds had passed since it went on when it loaded the next sample.
  [[nodiscard]] bool went_on_late() const noexcept { return went_on_late_; }

  static constexpr double kLate = 0.05;

 private:
  void load(std::uint64_t index) {
    loaded_.add(index);
    hold_.load(index);
    if (resumption_ && loaded_.times().size() == 4) went_on_late_ = resumption_->is_past(kLate);
  }

  Hold hold_{2};
  Loaded loaded_;
  std::optional<test::Beginning> resumption_;
  bool went_on_late_ = false;
  std::unique_ptr<Device> device_ = make_cpu_device();
  Pipeline pipeline_;
  BatchLoader batches_;
};

}  // namespace

TEST_CASE("suspended often, it loads no sample twice and drops none") {
  for (const LoaderKind loader : {LoaderKind::sample, LoaderKind::batch}) {
    for (const int workers : {0, 1, 2, 5}) {
      CAPTURE(workers);
      Loaded loaded;
      const Pipeline pipeline =
          chain_with([&](const Sample& sample) { loaded.add(sample.index()); }, loader);
      const auto device = make_cpu_device();
      Executor executor(pipeline, *device, workers_of(workers, loader));
      std::set<std::uint64_t> taken;
      constexpr std::uint64_t kRuns = 60;
      for (std::uint64_t run = 0; run < kRuns; ++run) {
        executor.resume(request_number(run));
        if (run % 2 == 0) executor.go();  // next() does it too
        for (std::uint64_t i = 0; i < run % 4; ++i) {
          const auto indices = take_indices(executor);
          for (std::size_t row = 0; row < indices.size(); ++row) {
            // Each row holds the sample that some request has for it.
            CHECK(indices[row] % kRows == row);
            CHECK(taken.insert(indices[row]).second);
          }
        }
        executor.suspend();
      }
      const auto times = loaded.times();
      const auto most = static_cast<std::size_t>(executor.slots() * kRows);
      CHECK(times.size() <= taken.size() + most);
      for (const auto& [index, count] : times) CHECK(count == 1);
      for (const std::uint64_t index : taken) CHECK(times.contains(index));
    }
  }
}

TEST_CASE("what is ready when it is suspended is ready afterwards") {
  const auto device = make_cpu_device();
  const Pipeline pipeline = chain_with([](const Sample&) {}, LoaderKind::sample);
  Executor executor(pipeline, *device, workers_of(2, LoaderKind::sample));
  executor.start({.batches = 4});
  const auto first = take_indices(executor);
  while (executor.ready() != 3) std::this_thread::yield();
  executor.suspend();
  CHECK(executor.ready() == std::nullopt);
  executor.resume(nothing_more());
  CHECK(executor.ready() == 3);
  CHECK(executor.counters().stages[0].samples == 0);
  for (std::uint64_t batch = 1; batch < 4; ++batch) {
    const auto indices = take_indices(executor);
    CHECK(indices.front() == batch * kRows);
    CHECK(indices.back() == (batch + 1) * kRows - 1);
  }
}

TEST_CASE("a worker parks after the sample that it loads, and goes on with the next one") {
  for (const LoaderKind loader : {LoaderKind::sample, LoaderKind::batch}) {
    Paused paused(loader, [] {});
    CHECK(paused.loaded().times().size() == 3);
    CHECK(paused.first_batch_with({.first_position = kApart, .batches = 1}) ==
          std::vector<std::uint64_t>{0, 1, 2, kApart + 3, kApart + 4, kApart + 5, kApart + 6,
                                     kApart + 7});
  }
}

TEST_CASE("what a worker does after pause() delays it when it goes on") {
  Paused paused(LoaderKind::batch, [] {
    const test::Beginning pause;
    while (!pause.is_past(Paused::kLate)) std::this_thread::yield();
  });
  paused.first_batch_with({.first_position = kApart, .batches = 1});
  CHECK(paused.went_on_late());
}

TEST_CASE("cached batches that are handed over by pointer go on from the new position") {
  const auto device = make_cpu_device();
  const Pipeline pipeline = chain_with([](const Sample&) {}, LoaderKind::sample);
  std::vector<HostBatch> cached(5);
  for (std::size_t i = 0; i < cached.size(); ++i) cached[i].size = static_cast<std::int64_t>(i);
  Executor executor(pipeline, *device, workers_of(2, LoaderKind::sample));
  const auto request = [&](std::uint64_t first) {
    return LoadRequest{
        .boundary = 4, .cache = {.batches = cached}, .first_position = first * kRows};
  };
  executor.start(request(0));
  CHECK(executor.next({}).batch == cached.data());
  CHECK(executor.next({}).batch == &cached[1]);
  executor.suspend();
  executor.resume(request(4));
  CHECK(executor.next({}).batch == &cached[4]);
  CHECK(executor.next({}).batch == cached.data());
}

TEST_CASE("after a worker's error it begins anew") {
  std::atomic<bool> fails{true};
  const Pipeline pipeline = chain_with(
      [&](const Sample& sample) {
        if (fails && sample.index() == 3 * kRows) throw Error(ErrorKind::data, "damaged");
      },
      LoaderKind::sample);
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, workers_of(2, LoaderKind::sample));
  executor.start({});
  const std::string message = error_message(
      [&] {
        for (;;) take_indices(executor);
      },
      ErrorKind::data);
  CHECK(has(message, "damaged"));
  executor.suspend();
  fails = false;
  executor.resume(request_number(1));
  CHECK(take_indices(executor).front() == kApart);
}

TEST_CASE("start() and halt() drop what a suspended executor holds") {
  const Pipeline pipeline = chain_with([](const Sample&) {}, LoaderKind::sample);
  const auto device = make_cpu_device();
  for (const bool halts : {false, true}) {
    Executor executor(pipeline, *device, workers_of(2, LoaderKind::sample));
    executor.start({});
    take_indices(executor);
    executor.suspend();
    if (halts) {
      executor.halt();
      executor.resume(request_number(2));
    } else {
      executor.start(request_number(2));
    }
    CHECK(take_indices(executor).front() == 2 * kApart);
  }
}
