#include "cachebisect/replay/choose_workers.hpp"

#include <mutex>
#include <set>

#include "support/all_stages.hpp"
#include "support/errors.hpp"
#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include "support/waiting_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/job/open_job.hpp"

using namespace cachebisect;
using test::waiting_chain;

TEST_CASE("live reading goes on behind what the search has read") {
  const Job job = open_job(waiting_chain(10, 1), &test::all_stages(), {.order_nonce = 0});
  const std::uint64_t samples_read = job.order->reserve(0);
  CHECK(samples_read > 0);
  const auto step = std::make_shared<test::RecordingStep>();
  PipelineReplayer replayer(waiting_chain(10, 1), make_cpu_device(), step,
                            {.workers = 1, .order = job.order});
  (void)replayer.run({{ArmKind::live, 0, 0, {}}, 2, 1, 0}, {});
  CHECK(step->seen.front().indices.front() == samples_read);
  CHECK_FALSE(replayer.describe().worker_search.has_value());
  CHECK(job.make_replayer().describe().worker_search.has_value());
}

TEST_CASE("no sample is read twice by trials and what reads behind them") {
  for (const LoaderKind loader : {LoaderKind::sample, LoaderKind::batch}) {
    CAPTURE(loader);
    std::mutex mutex;
    std::set<std::uint64_t> read;
    std::size_t reads = 0;
    const Pipeline pipeline = PipelineBuilder{}
                                  .source("read", 1U << 30U,
                                          [&](SampleIndex index, Sample& out) {
                                            test::read_image(index, out);
                                            const std::scoped_lock lock(mutex);
                                            read.insert(index.value);
                                            ++reads;
                                          })
                                  .collate()
                                  .copy()
                                  .batch_size(8)
                                  .loader(loader)
                                  .device("cpu")
                                  .build();
    read.clear();  // build() learns from a few samples
    reads = 0;
    LiveOrder order(pipeline, 1);
    const auto step = std::make_shared<test::RecordingStep>();
    (void)choose_workers(pipeline, make_cpu_device(), [&](int) { return step; }, order, {});
    CHECK(read.size() == reads);
    for (const SampleIndex sample : order.take(1000)) CHECK(read.count(sample.value) == 0);
  }
}

TEST_CASE("each count is tried with its own step, and weights are restored at the end") {
  std::set<int> asked;
  const auto step = std::make_shared<test::RecordingStep>();
  const Pipeline pipeline = test::random_chain({});
  const WorkerChoice choice = choose_workers(pipeline, make_cpu_device(),
                                             [&](int workers) {
                                               asked.insert(workers);
                                               return step;
                                             },
                                             LiveOrder(pipeline), {});
  CHECK(asked.contains(1));
  CHECK(asked.contains(2));
  CHECK(asked.contains(choice.workers));
  CHECK(choice.search.trials.size() == asked.size());
  CHECK(step->snapshots == 1);
  CHECK(step->restores == 1);
  CHECK_FALSE(step->seen.empty());
}

TEST_CASE("a stop ends the search") {
  std::stop_source stop;
  const auto step = std::make_shared<test::RecordingStep>();
  step->then = [&](const DeviceBatch&) { stop.request_stop(); };
  const auto search = [&] {
    const Pipeline pipeline = test::random_chain({});
    (void)choose_workers(
        pipeline, make_cpu_device(), [&](int) { return step; }, LiveOrder(pipeline),
        stop.get_token());
  };
  CHECK(test::error_message(search, ErrorKind::interrupted) != "");
}
