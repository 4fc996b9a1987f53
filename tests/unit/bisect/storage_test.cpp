// What reading asks of storage is counted after a verdict that names it, told, and leads to
// remedies.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "support/forwarding_replayer.hpp"
#include "support/report_json.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include "support/torch_settings.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/bisect/reanalyse.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/storage_use.hpp"
#include "cachebisect/report/json/read_report.hpp"
#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using test::has;

namespace {

/// One request of 20 ms after the other, a client and a connection for each.
StorageCounts serial_requests() {
  StorageCounts counts;
  counts.samples = 64;
  counts.workers = 2;
  counts.seconds = 1.4;
  counts.file_opens = 0;
  counts.requests = 64;
  counts.request_seconds = 1.28;
  counts.waiting_seconds = 1.28;
  counts.most_in_flight = 1;
  counts.received_bytes = 64 * 67e3;
  counts.connections = 64;
  counts.clients = 64;
  return counts;
}

/// A simulated job in Python that can tell what its reading asks for.
class CountingReplayer final : public test::ForwardingReplayer {
 public:
  using ForwardingReplayer::ForwardingReplayer;

  bool tells = true;
  bool fails = false;
  std::optional<StorageCounts> counts = serial_requests();
  int asked = 0;

  [[nodiscard]] ChainDescription describe() const override {
    ChainDescription chain = ForwardingReplayer::describe();
    chain.settings = test::torch_settings();
    chain.counts_storage = tells;
    return chain;
  }

  std::optional<StorageCounts> count_storage(const StorageRequest& request,
                                             const std::stop_token& /*stop*/) override {
    ++asked;
    CHECK(request.samples == 64);
    CHECK(request.max_seconds > 0);
    if (fails) throw Error(ErrorKind::data, "the server is gone");
    return counts;
  }
};

/// `read` waits 500 us per sample, next to a step of 125 us; two workers.
CountingReplayer reading_job() {
  SimulatedChain chain = test::starved_chain(10e-6);
  chain.stages.front().seconds = 0.5e-3;
  return CountingReplayer(std::move(chain));
}

Report run(CountingReplayer& job) { return bisect(job, {.sustain_seconds = 0}); }

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

const Remedy* remedy(const Report& report, const std::string& id) {
  const auto found = std::ranges::find(report.remedies, id, &Remedy::id);
  return found == report.remedies.end() ? nullptr : &*found;
}

Report with(const StorageCounts& counts) {
  CountingReplayer job = reading_job();
  job.counts = counts;
  return run(job);
}

}  // namespace

TEST_CASE("a verdict that names reading says what is asked of storage, in every format") {
  CountingReplayer job = reading_job();
  const Report report = run(job);
  REQUIRE(report.verdict.stage == "read");
  CHECK(job.asked == 1);
  REQUIRE(report.storage.has_value());
  const std::string sentence =
      "Reading a sample makes 1 request of 20 ms, at most 1 at once in a worker, each over a new "
      "connection, by a new client for each sample; it receives 67.0 kB.";
  CHECK(has(in_one_line(to_text(report)), sentence));
  CHECK(has(to_markdown(report), "1 request of 20 ms"));
  CHECK(has(to_html(report), "1 request of 20 ms"));
  REQUIRE(report.reading.has_value());
  CHECK(report.reading->bytes_per_sample == doctest::Approx(67e3));
  CHECK(*report.reading->ceiling_bytes_per_second == doctest::Approx(67e3 * *report.ceiling.value));
  const Report again = read_report(test::json_text(report), "report.json");
  CHECK(again.storage->received_bytes == report.storage->received_bytes);
  CHECK(test::json_text(again) == test::json_text(report));
  REQUIRE(again.recording != nullptr);
  CHECK(again.recording->storage->clients == 64);
}

TEST_CASE("requests one after the other lead to reading side by side, with its gain") {
  const Report report = with(serial_requests());
  const Remedy* const threads = remedy(report, "in_flight");
  REQUIRE(threads != nullptr);
  CHECK(has(threads->reason, "a request takes 20 ms, and each worker has one in flight"));
  REQUIRE(threads->predicted.value.has_value());
  // The step limits then: 8 threads make 500 us into 63 us.
  CHECK(*threads->predicted.value ==
        doctest::Approx(*report.ceiling.value - *report.live.value).epsilon(0.05));
  REQUIRE(threads->arm.has_value());
  CHECK(threads->arm->overrides.at("read_threads") == "8");
  CHECK(remedy(report, "one_client") != nullptr);
}

TEST_CASE("bytes that are not used, files that are opened again, and refusals are told") {
  StorageCounts counts;
  counts.samples = 50;
  counts.seconds = 10;
  counts.file_opens = 50;
  counts.reopened = 49;
  counts.file_reads = 100;
  counts.file_bytes = 50 * 109e6;
  counts.disk_bytes = 25 * 109e6;
  counts.requests = 10;
  counts.throttled = 3;
  counts.failed = 1;
  CountingReplayer job = reading_job();
  job.counts = counts;
  Report report = run(job);
  CHECK(has(in_one_line(to_text(report)), "opens 1 file and takes 2 reads"));
  CHECK(has(in_one_line(to_text(report)), "reads 109 MB, 50% of it from the disk"));
  const auto warned = [&](const std::string& code) {
    return std::ranges::find(report.warnings, code, &Warning::code);
  };
  REQUIRE(warned("storage_throttled") != report.warnings.end());
  CHECK(has(warned("storage_throttled")->text, "3 of 10 requests"));
  CHECK(warned("failed_requests") != report.warnings.end());
  CHECK(remedy(report, "open_once") != nullptr);

  report.stages.front().output_bytes = 0.6e6;
  const auto unused = unused_bytes(counts, report.stages);
  REQUIRE(unused.has_value());
  CHECK(unused->read == doctest::Approx(109e6));
  CHECK(has(in_one_line(to_text(report)), "for the 600 kB that it returns"));
  report.stages.front().output_bytes = 50e6;
  CHECK_FALSE(unused_bytes(counts, report.stages).has_value());
}

TEST_CASE("what does not read is not counted, nor where nobody can tell") {
  CountingReplayer other(test::starved_chain());
  CHECK(run(other).verdict.stage == "crop");
  CHECK(other.asked == 0);
  CountingReplayer silent = reading_job();
  silent.tells = false;
  CHECK_FALSE(run(silent).storage.has_value());
  CHECK(silent.asked == 0);
  CountingReplayer unable = reading_job();
  unable.counts.reset();
  const Report report = run(unable);
  CHECK(unable.asked == 1);
  CHECK_FALSE(report.reading.has_value());
  CHECK_FALSE(has(to_text(report), "Reading a sample"));
}

TEST_CASE("counting that fails leaves the verdict as it is") {
  CountingReplayer job = reading_job();
  job.fails = true;
  const Report report = run(job);
  CHECK(report.verdict.stage == "read");
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK_FALSE(report.storage.has_value());
  const auto warning = std::ranges::find(report.warnings, "run_failed", &Warning::code);
  REQUIRE(warning != report.warnings.end());
  CHECK(has(warning->text, "the server is gone"));
}

TEST_CASE("what counts show") {
  StorageCounts counts = serial_requests();
  CHECK(waits_for_single_requests(counts));
  counts.request_seconds = 3 * counts.waiting_seconds;
  CHECK_FALSE(waits_for_single_requests(counts));
  counts = serial_requests();
  counts.waiting_seconds = counts.request_seconds = 0.1 * counts.seconds;
  CHECK_FALSE(waits_for_single_requests(counts));
  CHECK(connects_each_time(counts));
  counts.connections = 2;
  CHECK_FALSE(connects_each_time(counts));
  CHECK(makes_clients(counts));
  counts.clients = 0;
  CHECK_FALSE(makes_clients(counts));
  CHECK_FALSE(opens_again(counts));
  counts.reopened = 63;
  CHECK(opens_again(counts));
  CHECK(seconds_per_request({.samples = 1}) == 0);
  CHECK_FALSE(connects_each_time({.samples = 1}));
}
