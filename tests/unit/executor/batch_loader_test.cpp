// LoaderKind::batch: a worker loads whole batches, which are delivered in order.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "support/errors.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;
using test::error_message;
using test::has;

namespace {

constexpr std::int64_t kBatch = 4;

struct ChainOptions {
  test::ToySourceOptions source{};
  std::function<void(const Sample&)> hook = [](const Sample&) {};
  bool shuffle = false;
  bool drop_last = true;
  bool skip = false;
};

Pipeline chain(ChainOptions options) {
  PipelineBuilder builder;
  builder.source("read", test::toy_source(std::move(options.source)))
      .stage("noise", test::toy_noise(true))
      .stage("hook", test::toy_hook(std::move(options.hook)));
  if (options.skip) builder.skip_damaged();
  return builder.collate("NCHW")
      .stage("count", test::toy_count_up())
      .copy()
      .batch_size(kBatch)
      .shuffle(options.shuffle)
      .drop_last(options.drop_last)
      .loader(LoaderKind::batch)
      .build();
}

ExecutorOptions batches_by(int workers, int prefetch = 2) {
  return {.workers = workers, .prefetch = prefetch, .loader = LoaderKind::batch};
}

struct Content {
  std::vector<std::uint64_t> indices;
  std::vector<std::byte> bytes;
  friend bool operator==(const Content&, const Content&) = default;
};

Content content_of(const HostBatch& batch) {
  Content content;
  for (const SampleIndex index : batch.indices) content.indices.push_back(index);
  for (const BatchField& field : batch.fields) {
    content.bytes.insert(content.bytes.end(), field.tensor.data,
                         field.tensor.data + field.tensor.byte_size());
  }
  return content;
}

std::vector<Content> take_contents(Executor& executor, int batches) {
  std::vector<Content> all;
  for (int i = 0; i < batches; ++i) {
    const ReadyBatch ready = executor.next({});
    CHECK(ready.sequence == static_cast<std::uint64_t>(i));
    all.push_back(content_of(*ready.batch));
    executor.release(ready, nullptr);
  }
  return all;
}

std::vector<Content> run(const Pipeline& pipeline, const ExecutorOptions& options, int batches,
                         const LoadRequest& request = {}) {
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, options);
  executor.start(request);
  return take_contents(executor, batches);
}

/// Holds the worker that loads sample `held` until it is opened; the test can wait until that
/// worker is held and sample `awaited` has been loaded by another one. For unshuffled chains.
class Gate {
 public:
  Gate(std::uint64_t held, std::uint64_t awaited) : held_(held), awaited_(awaited) {}

  void load(std::uint64_t index) {
    {
      const std::scoped_lock lock(mutex_);
      batches_.insert(index / kBatch);
    }
    if (index == held_) {
      set(holds_);
      open_.wait(false);
    } else if (index == awaited_) {
      set(arrived_);
    }
  }
  void open() { set(open_); }
  /// Returns when one worker is held and the awaited sample has been loaded.
  void await() const {
    holds_.wait(false);
    arrived_.wait(false);
  }
  /// The batches of which samples have been loaded so far.
  [[nodiscard]] std::set<std::uint64_t> batches() {
    const std::scoped_lock lock(mutex_);
    return batches_;
  }

 private:
  static void set(std::atomic<bool>& flag) {
    flag = true;
    flag.notify_all();
  }

  std::uint64_t held_;
  std::uint64_t awaited_;
  std::atomic<bool> holds_{false};
  std::atomic<bool> open_{false};
  std::atomic<bool> arrived_{false};
  std::mutex mutex_;
  std::set<std::uint64_t> batches_;
};

constexpr std::uint64_t last_sample(std::uint64_t batch) { return (batch + 1) * kBatch - 1; }

}  // namespace

TEST_CASE("batches come in order and hold the same bytes as with loader sample") {
  for (const bool drop_last : {true, false}) {
    const Pipeline pipeline =
        chain({.source = {.samples = 23}, .shuffle = true, .drop_last = drop_last});
    const auto expected = run(pipeline, {.workers = 0}, 40);
    for (const int workers : {0, 1, 2, 3, 7}) {
      for (const int prefetch : {0, 1, 5}) {
        CAPTURE(workers);
        CAPTURE(prefetch);
        CHECK(run(pipeline, batches_by(workers, prefetch), 40) == expected);
      }
    }
  }
}

TEST_CASE("worker w of W loads the batches w, w + W, w + 2W, ...") {
  constexpr std::uint64_t kWorkers = 3;
  constexpr std::uint64_t kBatches = 12;
  std::mutex mutex;
  std::vector<std::set<std::thread::id>> loaded_by(kBatches);
  const Pipeline pipeline = chain({.source = {.samples = 1000}, .hook = [&](const Sample& sample) {
                                     const std::uint64_t batch = sample.index() / kBatch;
                                     const std::scoped_lock lock(mutex);
                                     if (batch < kBatches) {
                                       loaded_by[batch].insert(std::this_thread::get_id());
                                     }
                                   }});
  run(pipeline, batches_by(kWorkers), kBatches);
  std::set<std::thread::id> threads;
  for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
    CHECK(loaded_by[batch].size() == 1);
    CHECK(loaded_by[batch] == loaded_by[batch % kWorkers]);
    threads.insert(loaded_by[batch].begin(), loaded_by[batch].end());
  }
  CHECK(threads.size() == kWorkers);
}

TEST_CASE("a slow sample delays the batches of its own worker and every delivery after them") {
  // Two workers, slots for 5 batches; worker 0 is held in batch 0.
  Gate gate(1, last_sample(3));
  const Pipeline pipeline = chain({.source = {.samples = 1000}, .hook = [&](const Sample& sample) {
                                     gate.load(sample.index());
                                   }});
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, batches_by(2));
  executor.start({});
  gate.await();
  // Worker 1 has loaded its batches; those of worker 0 wait, and nothing can be delivered.
  CHECK(gate.batches() == std::set<std::uint64_t>{0, 1, 3});
  CHECK(executor.ready() == 0);
  CHECK(executor.try_next().batch == nullptr);
  gate.open();
  const auto batches = take_contents(executor, 10);
  for (std::uint64_t i = 0; i < batches.size(); ++i) CHECK(batches[i].indices[0] == i * kBatch);
}

TEST_CASE("with loader sample the other workers take_contents over what is left") {
  Gate gate(1, last_sample(3));
  const Pipeline pipeline = chain({.source = {.samples = 1000}, .hook = [&](const Sample& sample) {
                                     gate.load(sample.index());
                                   }});
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = 2, .grain = 1});
  executor.start({});
  gate.await();
  CHECK(gate.batches().contains(2));
  CHECK(executor.try_next().batch == nullptr);
  gate.open();
  CHECK(take_contents(executor, 10).size() == 10);
}

TEST_CASE("a request to stop ends the wait for a slow batch") {
  Gate gate(1, last_sample(3));
  const Pipeline pipeline = chain({.source = {.samples = 1000}, .hook = [&](const Sample& sample) {
                                     gate.load(sample.index());
                                   }});
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, batches_by(2));
  executor.start({});
  gate.await();
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  CHECK(has(error_message([&] { (void)executor.next(stop.get_token()); }, ErrorKind::interrupted),
            "stopped"));
  gate.open();
  executor.halt();
  executor.start({});
  CHECK(take_contents(executor, 6).size() == 6);
}

TEST_CASE("an error of one worker ends the run, and the executor can be used again") {
  std::atomic<bool> broken{true};
  const Pipeline pipeline = chain({.source = {.samples = 1000}, .hook = [&](const Sample& sample) {
                                     if (broken && sample.index() == 30)
                                       throw Error(ErrorKind::data, "damaged");
                                   }});
  const auto device = make_cpu_device();
  for (const int workers : {1, 2, 4}) {
    CAPTURE(workers);
    broken = true;
    Executor executor(pipeline, *device, batches_by(workers));
    executor.start({});
    CHECK(has(error_message([&] { take_contents(executor, 100); }, ErrorKind::data),
              "stage 'hook' (augment.hook): sample 30 (toy/file): damaged"));
    executor.halt();
    broken = false;
    executor.start({});
    CHECK(take_contents(executor, 20).size() == 20);
  }
}

TEST_CASE("damaged samples are replaced by the same ones as with loader sample") {
  const Pipeline pipeline = chain({.source = {.samples = 1000},
                                   .hook =
                                       [](const Sample& sample) {
                                         if (sample.index() % 50 == 3) {
                                           throw Error(ErrorKind::data, "damaged");
                                         }
                                       },
                                   .shuffle = true,
                                   .skip = true});
  const auto expected = run(pipeline, {.workers = 0}, 40);
  CHECK(run(pipeline, batches_by(3), 40) == expected);
}

TEST_CASE("cached batches pass through batch stages in the same turns") {
  const Pipeline pipeline = chain({.source = {.samples = 1000}});
  const std::size_t collate = 4;
  std::vector<std::unique_ptr<OwnedHostBatch>> owned;
  std::vector<HostBatch> cached(6);
  for (std::size_t i = 0; i < cached.size(); ++i)
    owned.push_back(std::make_unique<OwnedHostBatch>(host_memory()));
  LoadRequest fill;
  fill.on_batch = [&](std::size_t stage, std::uint64_t sequence, const HostBatch& batch) {
    if (stage != collate || sequence >= cached.size()) return;
    OwnedHostBatch& copy = *owned[sequence];
    copy.begin_from(batch);
    for (std::size_t i = 0; i < batch.fields.size(); ++i) {
      const ConstTensorView from = batch.fields[i].tensor;
      copy_tensor(from, copy.resize_field(i, batch.fields[i].name, from.dtype, from.shape));
    }
    cached[sequence] = copy.batch;
  };
  const auto live = run(pipeline, batches_by(2), 6, fill);
  LoadRequest replay;
  replay.boundary = collate;
  replay.cache.batches = cached;
  CHECK(run(pipeline, batches_by(2), 6, replay) == live);
}

TEST_CASE("a grain and whole batches are refused together") {
  const Pipeline pipeline = chain({});
  const auto device = make_cpu_device();
  ExecutorOptions options = batches_by(2);
  options.grain = 2;
  CHECK(has(test::usage_error([&] { Executor(pipeline, *device, options); }), "no grain"));
}
