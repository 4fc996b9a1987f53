// A complete report of a certified drop.
#pragma once

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect::test {

inline StageDescription describe_stage(const char* name, const char* type, StageKind kind) {
  StageDescription stage;
  stage.name = name;
  stage.type = type;
  stage.category = category_of(type);
  stage.kind = kind;
  stage.held = kind == StageKind::copy ? Held::device : Held::host;
  return stage;
}

inline Estimate estimate(double value, double low, double high) {
  return {value, Interval{low, high}};
}

inline void add_boundary(Report& report, const char* after, Held held, double rate) {
  BoundaryReport boundary;
  boundary.index = static_cast<int>(report.boundaries.size());
  boundary.after = after;
  boundary.held = held;
  boundary.visited = true;
  boundary.samples_per_second = estimate(rate, rate * 0.99, rate * 1.01);
  boundary.seconds_per_sample = 1 / rate;
  boundary.blocks = 12;
  report.boundaries.push_back(boundary);
}

inline void add_stage(Report& report, const StageDescription& description, double drop) {
  StageReport stage;
  stage.index = static_cast<int>(report.stages.size()) + 1;
  stage.name = description.name;
  stage.type = description.type;
  stage.category = description.category;
  stage.drop = estimate(drop, drop - 0.01, drop + 0.01);
  stage.certified = drop > 0.05;
  const auto& below = report.boundaries[static_cast<std::size_t>(stage.index)];
  const auto& above = report.boundaries[static_cast<std::size_t>(stage.index) - 1];
  stage.seconds_per_sample = *above.seconds_per_sample - *below.seconds_per_sample;
  report.stages.push_back(stage);
  report.chain.stages.push_back(description);
}

inline void fill_machine(Report& report) {
  report.machine.cpu = "Example CPU";
  report.machine.cores = 2;
  report.machine.usable_cpus = 1.5;
  report.machine.memory_bytes = 8e9;
  report.machine.os = "Linux 6.1";
  report.machine.virtualized = true;
  report.machine.noise = {.block_cv = 0.02,
                          .null_drop = estimate(0.001, -0.002, 0.003),
                          .steal_share = 0.0,
                          .frequency_change = 0.01,
                          .other_load = 0.1,
                          .drift = estimate(0.005, -0.01, 0.02)};
  report.machine.floor = {.ns_per_sample = 60, .us_per_batch = 8};
}

inline void fill_chain(Report& report) {
  report.chain.name = "photos";
  report.chain.file = "photos.json";
  report.chain.effective_json = R"({"name": "photos"})";
  report.chain.batch_size = 64;
  report.chain.workers = 2;
  report.chain.ring_slots = 5;
  report.chain.generated_data = true;
  report.chain.train = "emulated";
  report.chain.device_kind = DeviceKind::emulated;
  report.chain.device_name = "emulated";
  report.chain.copy_gb_per_s = 25;
}

inline void fill_stages(Report& report) {
  add_boundary(report, "", Held::none, 1000);
  add_boundary(report, "read", Held::host, 1010);
  add_boundary(report, "decode", Held::host, 2480);
  add_boundary(report, "collate", Held::host, 2490);
  add_boundary(report, "copy", Held::device, 2500);
  add_stage(report, describe_stage("read", "read.image_folder", StageKind::source),
            1 - 1000 / 1010.0);
  add_stage(report, describe_stage("decode", "decode.image", StageKind::sample), 1 - 1010 / 2480.0);
  add_stage(report, describe_stage("collate", "collate.stack", StageKind::collate),
            1 - 2480 / 2490.0);
  add_stage(report, describe_stage("copy", "copy.device", StageKind::copy), 1 - 2490 / 2500.0);
}

inline void fill_quantities(Report& report) {
  report.ceiling = report.boundaries.back().samples_per_second;
  report.live = report.boundaries.front().samples_per_second;
  report.reading = Reading{67.8e3, 132e6, 330e6};
  report.loss = {.total = estimate(0.6, 0.59, 0.61),
                 .starvation = estimate(0.55, 0.54, 0.56),
                 .contention = estimate(0.05, 0.045, 0.055)};
  report.live_loop.starved_share = 0.58;
  report.live_loop.ready_batches = 0.2;
  report.overhead = estimate(0.002, 0, 0.004);
  report.k2k_change = 0.001;
  report.resident_share = 0.25;
  report.stages[1].replayed_busy_ratio = estimate(0.998, 0.99, 1.01);
  report.stages[1].payoff = estimate(2400, 2380, 2420);
  report.next_stage = "training step";
  report.next_samples_per_second = 2400;
}

inline void fill_verdict(Report& report) {
  report.verdict.kind = VerdictKind::drop;
  report.verdict.stage = "decode";
  report.verdict.stage_index = 2;
  report.verdict.drop = report.stages[1].drop;
  report.verdict.fix_first = "decode";
  report.verdict.detectable_drop = 0.03;
  report.verdict.rounds = 12;
  report.verdict.certified_after_seconds = 6.1;
  report.verdict.text =
      "decode (decode.image) loses 59% of the throughput (99% interval 58-61%): the step could "
      "take 2,500 samples/s, the live pipeline gives 1,000.";
}

inline void fill_advice(Report& report) {
  report.remedies.push_back({"workers",
                             "decode",
                             "give the input more workers",
                             "Decoding burns CPU, and 2 of 8 usable CPUs load.",
                             {"--workers 6"},
                             {{"/workers", "6"}},
                             estimate(980, 950, 1010),
                             estimate(992, 981, 1003)});
  report.what_ifs = {{"workers=4", estimate(1980, 1950, 2010), estimate(1992, 1981, 2003), ""},
                     {"stages.decode.scale=2",
                      {},
                      estimate(1730, 1722, 1741),
                      "the cost model does not cover this setting; --verify runs it"}};
  report.warnings.push_back(
      {"generated_data", "The data set was generated.", "Set stages.read.path to your own data."});
}

inline void fill_blocks(Report& report) {
  BlockRecord block;
  block.arm.boundary = 2;
  block.result = {
      .start_seconds = 1.5, .seconds = 0.05, .steps = 8, .warmup_steps = 2, .samples = 512};
  report.blocks.push_back(block);
  block.arm = {.kind = ArmKind::live,
               .overrides = {{"/workers", "4"}, {"/train/precision", "bf16"}},
               .observed = false,
               .cache_samples = 256};
  block.result.ready_batches = 1.5;
  report.blocks.push_back(block);
}

inline Report sample_report() {
  Report report;
  report.started = "2026-01-02T03:04:05Z";
  report.timing = {.prepare_seconds = 0.2,
                   .cache_seconds = 0.4,
                   .measure_seconds = 10.3,
                   .explain_seconds = 4.2,
                   .sustain_seconds = 3.1,
                   .verdict_seconds = 9.6,
                   .wall_seconds = 13.9,
                   .first_batch_seconds = 0.03};
  report.settings.order_nonce = 271828;
  report.cache.samples = 512;
  report.cache.bytes_host = 3.2e8;
  fill_machine(report);
  fill_chain(report);
  fill_stages(report);
  fill_quantities(report);
  fill_verdict(report);
  fill_advice(report);
  fill_blocks(report);
  return report;
}

}  // namespace cachebisect::test
