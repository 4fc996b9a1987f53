// What is written of timed batches.
#include <string>
#include <vector>

#include "support/text.hpp"
#include "support/text_width.hpp"
#include <doctest/doctest.h>

#include "cachebisect/timing/timing_files.hpp"
#include "cachebisect/timing/timing_findings.hpp"
#include "cachebisect/timing/timing_summary.hpp"

using namespace cachebisect;
using doctest::Approx;
using test::has;
using test::widest_line;
using test::without_colors;

namespace {

/// Batches of 10 samples that load for these seconds and train for 6.
TimedRun timed_run(const std::vector<double>& loading, std::int64_t batch_size = 10) {
  TimedRun run{.batch_size = batch_size, .workers = 2};
  for (const double seconds : loading) {
    BatchTimes times;
    times.batch = run.batches.size();
    times.samples = batch_size;
    times.of(TimePart::load) = seconds;
    times.of(TimePart::step) = 6;
    times.total_seconds = seconds + 6;
    times.starved = seconds > 0;
    run.batches.push_back(times);
  }
  return run;
}

TimingRecord record_of(const std::vector<TimedRun>& runs, const std::string& name = "planted") {
  return {.name = name,
          .device = "emulated",
          .step = "emulated",
          .emulated = true,
          .parts = {TimePart::load, TimePart::step, TimePart::other},
          .epochs = 2,
          .bisect_command = "cachebisect --pipeline planted.json",
          .config_json = R"({"name": "planted", "batch_size": 10})",
          .runs = runs};
}

std::vector<std::string> codes(const TimingRecord& record) {
  std::vector<std::string> all;
  const TimingSummary summary = summarise(record.runs.front(), record.parts);
  for (const TimingFinding& finding : timing_findings(record, summary)) {
    all.push_back(finding.code);
  }
  return all;
}

std::string load_text(const std::vector<double>& loading) {
  const TimingRecord record = record_of({timed_run(loading)});
  return timing_findings(record, summarise(record.runs.front(), record.parts)).front().text;
}

}  // namespace

TEST_CASE("statistics are those of numpy") {
  // numpy: mean, std(ddof=1), min, max, percentile 50, 95, 99 of [1, 2, 4, 8, 16].
  const TimedRun run = timed_run({1, 2, 4, 8, 16});
  const std::vector<TimePart> parts{TimePart::load, TimePart::step};
  const TimingSummary summary = summarise(run, parts);
  const PartSummary& load = summary.parts[0];
  CHECK(load.mean == Approx(6.2));
  CHECK(load.std == Approx(6.09918027279076));
  CHECK(load.min == 1);
  CHECK(load.max == 16);
  CHECK(load.p50 == 4);
  CHECK(load.p95 == Approx(14.4));
  CHECK(load.p99 == Approx(15.68));
  CHECK(load.share == Approx(31.0 / 61));
  CHECK(summary.parts[1].share == Approx(30.0 / 61));
  CHECK(summary.total.share == Approx(1));
  CHECK(summary.samples == 50);
  CHECK(summary.total.samples_per_second.value() == Approx(50.0 / 61));
  CHECK(load.samples_per_second.value() == Approx(50.0 / 31));
  CHECK(find_part(summary, parts, TimePart::step) == &summary.parts[1]);
  CHECK(find_part(summary, parts, TimePart::copy) == nullptr);
}

TEST_CASE("no batches are no statistics, and no crash") {
  const TimingRecord record = record_of({timed_run({})});
  CHECK(summarise(record.runs.front(), record.parts).batches == 0);
  CHECK(has(timing_text(record, {}), "No batch was timed"));
  CHECK(has(timing_summary_yaml(record), "batches: 0"));
  CHECK(codes(record).empty());
}

TEST_CASE("emulated storage is named where the job is") {
  TimingRecord record = record_of({timed_run({6, 6})});
  record.emulated = false;  // all of it fits a line then
  CHECK_FALSE(has(timing_text(record, {}), "storage"));
  record.config_json = R"({"emulate": {"storage": {"latency_ms": 20}}})";
  CHECK(has(timing_text(record, {}), "step emulated; the storage is emulated (20 ms)"));
}

TEST_CASE("the thresholds for data loading are findings, and say what they do not mean") {
  CHECK(has(load_text({6, 6}), "more than 40%: the input limits the training"));
  CHECK(has(load_text({3, 3}), "more than 30%: check the data pipeline"));
  CHECK(has(load_text({1, 1}), "takes 14% of a batch, less than 30%"));
  const TimingRecord record = record_of({timed_run({6, 6})});
  CHECK(has(timing_text(record, {}), "A share of waiting is not a drop"));
  CHECK(has(timing_text(record, {}), "\n    cachebisect --pipeline planted.json\n"));
  CHECK(has(timing_text(record, {}), "batch 10, 2 workers: 2 batches (2 epochs) in 24"));
  CHECK(codes(record) == std::vector<std::string>{"load_share", "whole_step"});
}

TEST_CASE("slow batches and exposed copies are findings") {
  std::vector<double> loading(100, 0.0);
  loading[7] = loading[50] = 60;
  TimingRecord record = record_of({timed_run(loading)});
  CHECK(codes(record) == std::vector<std::string>{"load_share", "slow_batches", "whole_step"});
  record = record_of({timed_run({0, 0})});
  record.parts.insert(record.parts.begin() + 1, TimePart::copy);
  for (BatchTimes& batch : record.runs[0].batches) batch.of(TimePart::copy) = 2;
  CHECK(codes(record) == std::vector<std::string>{"load_share", "copy_share", "whole_step"});
}

TEST_CASE("the exponent of the batch size is that of a power law") {
  const TimingRecord steep =
      record_of({timed_run({0}, 10), timed_run({18}, 20), timed_run({90}, 40)});  // 6, 24, 96
  CHECK(size_exponent(steep).value() == Approx(2));
  CHECK_FALSE(size_exponent(record_of({timed_run({1})})).has_value());
  CHECK_FALSE(size_exponent(record_of({timed_run({1}), timed_run({2})})).has_value());
  const std::string text = timing_text(steep, {});
  CHECK(has(text, "to the power of 2.00"));
  CHECK(std::get<BarChart>(breakdown_picture(steep)).categories ==
        std::vector<std::string>{"10", "20", "40"});
  CHECK(std::get<LineChart>(total_picture(steep)).x == std::vector<double>{10, 20, 40});
}

TEST_CASE("the CSV has a row per batch, and empty cells for parts that were not measured") {
  const std::string csv = timing_results_csv(record_of({timed_run({1, 2})}));
  CHECK(csv ==
        "batch_size,batch,epoch,samples,load_seconds,copy_seconds,forward_seconds,"
        "backward_seconds,optimizer_seconds,step_seconds,other_seconds,total_seconds,"
        "samples_per_second,wait_seconds,copy_busy_seconds,starved\r\n"
        "10,0,0,10,1,,,,,6,0,7,1.4285714285714286,0,0,1\r\n"
        "10,1,0,10,2,,,,,6,0,8,1.25,0,0,1\r\n");
}

TEST_CASE("many batches share a bar, and keep their mean") {
  const TimingRecord record = record_of({timed_run(std::vector<double>(1000, 1.0))});
  const auto bars = std::get<BarChart>(breakdown_picture(record));
  CHECK(bars.series[0].values.size() <= 150);
  CHECK(bars.series[0].values.back() == Approx(1000));
  CHECK(has(bars.caption.x_label, "mean of 7"));
  const auto pie = std::get<PieChart>(distribution_picture(record));
  CHECK(pie.slices.size() == 3);
}

TEST_CASE("hostile names stay one line of text") {
  const std::string hostile = "a\nb\"\x1b[31m</script>\xff: =1|`x`";
  TimingRecord record = record_of({timed_run({1})}, hostile);
  record.step = hostile;
  record.device = hostile;
  const std::string text = timing_text(record, {});
  CHECK_FALSE(has(text, "\x1b"));
  CHECK_FALSE(has(text, "\na\nb"));
  const std::string yaml = timing_summary_yaml(record);
  CHECK(has(yaml, "name: \"a\\nb\\\"\\u001b[31m</script>\xef\xbf\xbd: =1|`x`\"\n"));
}

TEST_CASE("the text fits the terminal, and says the same with colours") {
  TimingRecord record = record_of({timed_run({1, 2, 3000})});
  record.runs[0].cost = {.call_seconds = 1e-6,
                         .pairs = 8,
                         .share = {.value = 0.01, .interval = Interval{-0.02, 0.04}}};
  const std::string text = timing_text(record, {});
  CHECK(widest_line(text) <= 80);
  const std::string wide = timing_text(record, {.columns = 120});
  CHECK(widest_line(wide) <= 120);
  CHECK(widest_line(wide) > 80);
  const std::string colored = timing_text(record, {.color = true});
  CHECK(has(colored, "\x1b["));
  CHECK(without_colors(colored) == text);
  CHECK(has(text, "Timing costs 1.0 us per batch"));
  CHECK(has(text, "8 pairs of blocks"));
}
