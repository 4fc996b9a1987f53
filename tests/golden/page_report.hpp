// Reports for the tests of the page: what it must show, and what must do it no harm.
#pragma once

#include <limits>
#include <string>

#include "golden/sample_report.hpp"

namespace cachebisect::test {

/// A name that breaks a page which does not escape it, and so many characters more.
inline std::string hostile_name(std::size_t more) {
  return "</script><script>document.title='injected'</script>\"><img src=x "
         "onerror=\"document.title='injected'\">'&\x1b[31m\n\xff\xe2\x80\xae" +
         std::string(more, 'n');
}

inline Report hostile_page_report() {
  Report report = sample_report();
  const std::string name = hostile_name(100);
  report.chain.name = report.stages[0].name = report.verdict.text = hostile_name(10'000);
  report.chain.file = report.chain.device_name = report.chain.train = name;
  report.machine.cpu = report.machine.os = report.settings.io = report.cache.limited_by = name;
  report.verdict.stage = report.verdict.fix_first = report.next_stage = name;
  for (StageReport& stage : report.stages) stage.type = stage.span = name;
  for (std::size_t s = 1; s < report.stages.size(); ++s) report.stages[s].name = name;
  report.spans = {{.name = name, .first = 3, .last = 4, .drop = estimate(0.3, 0.2, 0.4)}};
  report.remedies[0] = {name, name, name, name, {name}, {{name, "\"x\""}}, {}, {}, {name}};
  report.what_ifs[0].change = report.what_ifs[0].note = report.what_ifs[0].line = name;
  report.warnings[0] = {name, name, name, {name, name}};
  report.blocks[1].arm.overrides = {{name, name}};
  report.first_skipped = {name};
  report.skipped = 1;
  return report;
}

/// Nothing but what is known before the first round.
inline Report empty_report() {
  Report report;
  report.interrupted = true;
  return report;
}

/// Figures that are no numbers.
inline Report unmeasured_report() {
  Report report = sample_report();
  const double none = std::numeric_limits<double>::quiet_NaN();
  report.ceiling = estimate(none, none, none);
  report.live = {};
  report.loss = {};
  report.verdict.kind = VerdictKind::inconclusive;
  for (BoundaryReport& boundary : report.boundaries) boundary.samples_per_second = {};
  for (StageReport& stage : report.stages) {
    stage.drop = stage.payoff = stage.replayed_busy_ratio = {};
    stage.certified = false;
    stage.seconds_per_sample.reset();
  }
  report.machine.noise = {};
  report.overhead = {};
  report.k2k_change = report.resident_share = std::nullopt;
  report.blocks.clear();
  return report;
}

/// A distributed job that a rank holds up.
inline Report ranks_report() {
  Report report = sample_report();
  report.chain.ranks = 2;
  report.ranks = {{{0, 1}, estimate(1010, 1000, 1020)}, {{1, 1}, estimate(2400, 2390, 2410)}};
  report.verdict.ranks = RankRange{1, 1};
  return report;
}

/// Stages with the figures of a whole run, and rounds of blocks that vary.
inline Report full_report() {
  Report report = sample_report();
  for (std::size_t s = 0; s < report.stages.size(); ++s) {
    StageReport& stage = report.stages[s];
    stage.cpu_seconds_per_sample = 40e-6 * static_cast<double>(s + 1);
    stage.wait_seconds_per_sample = 2e-6;
    stage.busy_share = 0.2;
    stage.output_bytes = 150'000;
    stage.replayed_busy_ratio = s == 0 ? Estimate{} : estimate(1.01, 0.97, 1.05);
  }
  report.blocks.clear();
  for (int i = 0; i < 60; ++i) {
    BlockRecord block;
    block.round = i / 5;
    block.arm.boundary = i % 5;
    const double rate = i % 5 < 2 ? 1000 : 2480;
    const double noise = 1 + 0.03 * ((i * 7) % 11 - 5) / 5;
    block.result = {.start_seconds = 100 + 0.2 * i,
                    .seconds = 512 / (rate * noise),
                    .steps = 8,
                    .warmup_steps = 2,
                    .samples = 512};
    report.blocks.push_back(block);
  }
  return report;
}

/// The first two stages were measured together.
inline Report spanned_report() {
  Report report = sample_report();
  report.spans = {{.name = "stages 1-2 together",
                   .first = 1,
                   .last = 2,
                   .drop = estimate(0.6, 0.59, 0.61),
                   .certified = true,
                   .bursty = true,
                   .seconds_per_sample = 6e-4}};
  for (StageReport* stage : {&report.stages[0], &report.stages[1]}) {
    stage->span = report.spans[0].name;
    stage->drop = {};
    stage->certified = false;
    stage->seconds_per_sample.reset();
  }
  report.boundaries[1].samples_per_second = {};
  report.verdict.stage = report.verdict.span = report.spans[0].name;
  report.verdict.stage_index = 1;
  report.verdict.drop = report.spans[0].drop;
  return report;
}

/// With names and remarks as long as those of real pipelines, and no figure missing.
inline Report wide_report() {
  Report report = full_report();
  for (StageReport& stage : report.stages) {
    stage.type = "augment.random_resized_crop";
    stage.span = "stages 3-7 together";
    stage.random = stage.bursty = true;
    stage.drop = estimate(0.601, 0.542, 0.673);
    stage.payoff = estimate(1'520'300, 1'519'300, 1'521'400);
    stage.copy_gb_per_s = 49.3;
    stage.copy_share = 0.99;
  }
  report.stages.back().name = "transforms[2]RandomResizedCropAndFlip";
  report.spans = spanned_report().spans;
  return report;
}

/// With at least so many blocks.
inline Report long_report(std::size_t blocks) {
  Report report = full_report();
  const std::vector<BlockRecord> rounds = report.blocks;
  while (report.blocks.size() < blocks) {
    report.blocks.insert(report.blocks.end(), rounds.begin(), rounds.end());
  }
  return report;
}

}  // namespace cachebisect::test
