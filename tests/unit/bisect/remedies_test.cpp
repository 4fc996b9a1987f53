#include "cachebisect/bisect/report/remedies.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

StageReport stage(int index, const std::string& name, const std::string& type, double cpu,
                  double wait) {
  StageReport result;
  result.index = index;
  result.name = name;
  result.type = type;
  result.category = category_of(type);
  result.cpu_seconds_per_sample = cpu;
  result.wait_seconds_per_sample = wait;
  return result;
}

Report report_of(const std::string& named) {
  Report report;
  report.chain.device_kind = DeviceKind::cuda;
  report.chain.batch_size = 64;
  report.chain.workers = 1;
  report.chain.train = "resnet50, sgd, fp32";
  report.chain.copy_prefetch = 2;
  report.machine.usable_cpus = 8;
  report.stages = {stage(1, "read", "read.image_folder", 1e-5, 1e-3),
                   stage(2, "decode", "decode.image", 3e-3, 0),
                   stage(3, "normalize", "augment.normalize", 1e-4, 0),
                   stage(4, "collate", "collate.pad", 1e-5, 0),
                   stage(5, "copy", "copy.device", 0, 0)};
  report.stages[3].padding_share = 0.4;
  report.chain.stages.resize(report.stages.size());
  report.verdict.kind = VerdictKind::drop;
  report.verdict.stage = report.verdict.fix_first = named;
  return report;
}

const Remedy* find(const std::vector<Remedy>& remedies, const std::string& id) {
  const auto found =
      std::find_if(remedies.begin(), remedies.end(), [&](const Remedy& r) { return r.id == id; });
  return found == remedies.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a stage bound by the CPU gets the idle cores") {
  const auto remedies = find_remedies(report_of("decode"));
  const Remedy* workers = find(remedies, "workers");
  REQUIRE(workers != nullptr);
  CHECK(workers->flags == std::vector<std::string>{"--workers 8"});
  CHECK(workers->edits.front().path == "/workers");
  CHECK(workers->edits.front().value == "8");
  CHECK(remedies.size() == 3);
  for (const Remedy& remedy : remedies) {
    CHECK_FALSE(remedy.text.empty());
    CHECK_FALSE(remedy.reason.empty());
    CHECK_FALSE(remedy.predicted.has_value());
  }
}

TEST_CASE("waiting for cores that others keep busy is not waiting that more workers share") {
  Report report = report_of("decode");
  report.chain.workers = 4;
  report.machine.usable_cpus = 2;
  report.stages[1] = stage(2, "decode", "decode.image", 1e-3, 9e-3);
  const auto waits = find_remedies(report);
  report.machine.noise.other_load = 1.5;
  const auto shares = find_remedies(report);
  CHECK(find(waits, "workers") != nullptr);
  CHECK(find(shares, "workers") == nullptr);
  CHECK(find(shares, "more_cpu") != nullptr);
}

TEST_CASE("a part of a core, and one that others keep busy, is none for a worker more") {
  Report report = report_of("decode");
  report.machine.usable_cpus = 1.5;
  const auto limited = find_remedies(report);
  CHECK(find(limited, "workers") == nullptr);
  REQUIRE(find(limited, "more_cpu") != nullptr);
  CHECK(find(limited, "more_cpu")->reason.find("1.5") != std::string::npos);
  report.machine.usable_cpus = 8;
  report.machine.noise.other_load = 4;
  const auto remedies = find_remedies(report);
  REQUIRE(find(remedies, "workers") != nullptr);
  CHECK(find(remedies, "workers")->edits.front().value == "4");
  report.machine.noise.other_load = 6.9;
  CHECK(find(find_remedies(report), "workers") == nullptr);
}

TEST_CASE("no more workers are sold than there are cores") {
  Report report = report_of("decode");
  report.chain.workers = 8;
  CHECK(find(find_remedies(report), "workers") == nullptr);
}

TEST_CASE("reading that waits gets workers beyond the cores, and storage advice") {
  Report report = report_of("read");
  report.chain.workers = 8;
  const auto remedies = find_remedies(report);
  REQUIRE(find(remedies, "workers") != nullptr);
  CHECK(find(remedies, "workers")->flags.front() == "--workers 16");
  CHECK(find(remedies, "storage") != nullptr);
}

TEST_CASE("element-wise work moves to the device") {
  Report report = report_of("normalize");
  report.chain.workers = 8;
  const auto remedies = find_remedies(report);
  REQUIRE(find(remedies, "to_device") != nullptr);
  // Without the effective pipeline there is nothing to carry over, and no edit that would do.
  CHECK(find(remedies, "to_device")->edits.empty());
}

TEST_CASE("a copy that does not overlap is made to") {
  Report report = report_of("copy");
  report.chain.copy_prefetch = 0;
  report.chain.copy_pinned = false;
  const auto remedies = find_remedies(report);
  REQUIRE(find(remedies, "overlap_copy") != nullptr);
  const auto& edits = find(remedies, "overlap_copy")->edits;
  REQUIRE(edits.size() == 2);
  CHECK(edits[0].path == "/stages/4/pinned");
  CHECK(edits[1].path == "/stages/4/prefetch");
  CHECK(find(remedies, "ship_bytes") != nullptr);
  CHECK(find(remedies, "bucket") != nullptr);
}

TEST_CASE("padding is bucketed") {
  const auto remedies = find_remedies(report_of("collate"));
  REQUIRE(find(remedies, "bucket") != nullptr);
  CHECK(find(remedies, "bucket")->reason.starts_with("40%"));
}

TEST_CASE("where the step is the limit nothing is sold for the input") {
  Report report = report_of("");
  report.verdict.kind = VerdictKind::flat;
  auto remedies = find_remedies(report);
  CHECK(find(remedies, "workers") == nullptr);
  CHECK(find(remedies, "precision") != nullptr);
  REQUIRE(find(remedies, "batch_size") != nullptr);
  CHECK(find(remedies, "batch_size")->flags.front() == "--batch-size 128");
  report.chain.device_kind = DeviceKind::cpu;
  report.chain.sync_every = 1;
  remedies = find_remedies(report);
  CHECK(remedies.front().flags.front() == "--device emulated");
  CHECK(find(remedies, "no_sync") != nullptr);
  CHECK(remedies.size() == 3);
}

TEST_CASE("uncertain reports sell nothing") {
  Report report = report_of("decode");
  for (const VerdictKind kind : {VerdictKind::anomaly, VerdictKind::inconclusive}) {
    report.verdict.kind = kind;
    CHECK(find_remedies(report).empty());
  }
}
