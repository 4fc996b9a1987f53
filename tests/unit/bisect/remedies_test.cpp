#include "cachebisect/bisect/advice/remedies.hpp"

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

/// What remedies are sought from.
struct Situation {
  Measurements measured;
  Waterfall waterfall;
  Verdict verdict;
};

Situation situation_of(const std::string& named) {
  Situation now;
  ChainDescription& chain = now.measured.chain;
  chain.device_kind = DeviceKind::cuda;
  chain.batch_size = 64;
  chain.workers = 1;
  chain.train = "resnet50, sgd, fp32";
  chain.copy_prefetch = 2;
  now.measured.machine.usable_cpus = 8;
  now.waterfall.stages = {stage(1, "read", "read.image_folder", 1e-5, 1e-3),
                          stage(2, "decode", "decode.image", 3e-3, 0),
                          stage(3, "normalize", "augment.normalize", 1e-4, 0),
                          stage(4, "collate", "collate.pad", 1e-5, 0),
                          stage(5, "copy", "copy.device", 0, 0)};
  now.waterfall.stages[3].padding_share = 0.4;
  for (const StageReport& each : now.waterfall.stages) {
    chain.stages.emplace_back().type = each.type;
  }
  now.verdict.kind = VerdictKind::drop;
  now.verdict.stage = now.verdict.fix_first = named;
  return now;
}

std::vector<Remedy> find_remedies(const Situation& now) {
  return cachebisect::find_remedies(now.measured, now.waterfall, now.verdict, std::nullopt);
}

const Remedy* find(const std::vector<Remedy>& remedies, const std::string& id) {
  const auto found =
      std::find_if(remedies.begin(), remedies.end(), [&](const Remedy& r) { return r.id == id; });
  return found == remedies.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a CPU-bound stage is offered the idle cores") {
  const auto remedies = find_remedies(situation_of("decode"));
  const Remedy* workers = find(remedies, "workers");
  REQUIRE(workers != nullptr);
  CHECK(workers->flags == std::vector<std::string>{"--workers 8"});
  CHECK(workers->edits.front().path == "/workers");
  CHECK(workers->edits.front().value == "8");
  CHECK(remedies.size() == 4);
  for (const Remedy& remedy : remedies) {
    CHECK_FALSE(remedy.text.empty());
    CHECK_FALSE(remedy.reason.empty());
    CHECK_FALSE(remedy.predicted.value.has_value());
  }
}

TEST_CASE("one worker is offered in the singular") {
  Situation now = situation_of("decode");
  now.measured.chain.workers = 0;
  now.measured.machine.usable_cpus = 1;
  const auto one = find_remedies(now);
  REQUIRE(find(one, "workers") != nullptr);
  CHECK(find(one, "workers")->text == "use 1 worker instead of 0");
  now.measured.machine.usable_cpus = 2;
  const auto two = find_remedies(now);
  CHECK(find(two, "workers")->text == "use 2 workers instead of 0");
}

TEST_CASE("more workers are not offered against waiting for cores that others keep busy") {
  Situation now = situation_of("decode");
  now.measured.chain.workers = 4;
  now.measured.machine.usable_cpus = 2;
  now.waterfall.stages[1] = stage(2, "decode", "decode.image", 1e-3, 9e-3);
  const auto waits = find_remedies(now);
  now.measured.disturbance.other_load = 1.5;
  const auto shares = find_remedies(now);
  CHECK(find(waits, "workers") != nullptr);
  CHECK(find(shares, "workers") == nullptr);
  CHECK(find(shares, "more_cpu") != nullptr);
}

TEST_CASE("neither a fraction of a core nor a core that others keep busy is offered to workers") {
  Situation now = situation_of("decode");
  now.measured.machine.usable_cpus = 1.5;
  const auto limited = find_remedies(now);
  CHECK(find(limited, "workers") == nullptr);
  REQUIRE(find(limited, "more_cpu") != nullptr);
  CHECK(find(limited, "more_cpu")->reason.find("1.5") != std::string::npos);
  now.measured.machine.usable_cpus = 8;
  now.measured.disturbance.other_load = 4;
  const auto remedies = find_remedies(now);
  REQUIRE(find(remedies, "workers") != nullptr);
  CHECK(find(remedies, "workers")->edits.front().value == "4");
  now.measured.disturbance.other_load = 6.9;
  CHECK(find(find_remedies(now), "workers") == nullptr);
}

TEST_CASE("no more workers are offered than there are cores") {
  Situation now = situation_of("decode");
  now.measured.chain.workers = 8;
  CHECK(find(find_remedies(now), "workers") == nullptr);
}

TEST_CASE("reading that waits is offered more workers than cores, and advice on storage") {
  Situation now = situation_of("read");
  now.measured.chain.workers = 8;
  const auto remedies = find_remedies(now);
  REQUIRE(find(remedies, "workers") != nullptr);
  CHECK(find(remedies, "workers")->flags.front() == "--workers 16");
  CHECK(find(remedies, "storage") != nullptr);
}

TEST_CASE("of stages that were measured together, the slowest are advised on") {
  Situation now = situation_of("stages 1-3 together");
  for (std::size_t i = 0; i < 3; ++i) now.waterfall.stages[i].span = "stages 1-3 together";
  now.waterfall.stages[1].cpu_seconds_per_sample = 1e-5;
  now.waterfall.stages[2].cpu_seconds_per_sample = 4e-3;
  const auto remedies = find_remedies(now);
  REQUIRE(find(remedies, "to_device") != nullptr);
  CHECK(find(remedies, "to_device")->stage == "normalize");
  CHECK(find(remedies, "partial_decode") == nullptr);
  now.waterfall.stages[0].wait_seconds_per_sample = 1;
  const auto reading = find_remedies(now);
  CHECK(find(reading, "storage") != nullptr);
  CHECK(find(reading, "to_device") == nullptr);
}

TEST_CASE("element-wise work moves to the device") {
  Situation now = situation_of("normalize");
  now.measured.chain.workers = 8;
  const auto remedies = find_remedies(now);
  REQUIRE(find(remedies, "to_device") != nullptr);
  // Without the effective pipeline no edit can be made.
  CHECK(find(remedies, "to_device")->edits.empty());
}

TEST_CASE("a copy without overlap is offered overlap") {
  Situation now = situation_of("copy");
  now.measured.chain.copy_prefetch = 0;
  now.measured.chain.copy_pinned = false;
  const auto remedies = find_remedies(now);
  REQUIRE(find(remedies, "overlap_copy") != nullptr);
  const auto& edits = find(remedies, "overlap_copy")->edits;
  REQUIRE(edits.size() == 2);
  CHECK(edits[0].path == "/stages/4/pinned");
  CHECK(edits[1].path == "/stages/4/prefetch");
  CHECK(find(remedies, "ship_bytes") != nullptr);
  CHECK(find(remedies, "bucket") != nullptr);
}

TEST_CASE("bucketing is offered against padding") {
  const auto remedies = find_remedies(situation_of("collate"));
  REQUIRE(find(remedies, "bucket") != nullptr);
  CHECK(find(remedies, "bucket")->reason.starts_with("40%"));
}

TEST_CASE("batches that are grouped by size are not to be grouped") {
  Situation now = situation_of("collate");
  now.measured.chain.effective_json = R"({"group_by_size": 8})";
  CHECK(find(find_remedies(now), "bucket") == nullptr);
  now.measured.chain.effective_json = R"({"group_by_size": 0})";
  CHECK(find(find_remedies(now), "bucket") != nullptr);
}

TEST_CASE("no remedy for the input is offered if the step limits") {
  Situation now = situation_of("");
  now.verdict.kind = VerdictKind::flat;
  auto remedies = find_remedies(now);
  CHECK(find(remedies, "workers") == nullptr);
  CHECK(find(remedies, "precision") != nullptr);
  REQUIRE(find(remedies, "batch_size") != nullptr);
  CHECK(find(remedies, "batch_size")->flags.front() == "--batch-size 128");
  now.measured.chain.device_kind = DeviceKind::cpu;
  now.measured.chain.sync_every = 1;
  remedies = find_remedies(now);
  CHECK(remedies.front().flags.front() == "--device emulated");
  CHECK(find(remedies, "no_sync") != nullptr);
  CHECK(remedies.size() == 5);
}

TEST_CASE("the first three of sorted remedies are a view of them") {
  std::vector<Remedy> remedies;
  for (const char* const id : {"a", "b", "c", "d"}) {
    CHECK(first_remedies(remedies).size() == std::min<std::size_t>(3, remedies.size()));
    remedies.push_back({.id = id});
  }
  CHECK(first_remedies(remedies).size() == 3);
  CHECK(&first_remedies(remedies).front() == &remedies.front());
}

TEST_CASE("uncertain verdicts come without remedies") {
  Situation now = situation_of("decode");
  for (const VerdictKind kind : {VerdictKind::anomaly, VerdictKind::inconclusive}) {
    now.verdict.kind = kind;
    CHECK(find_remedies(now).empty());
  }
}

TEST_CASE("what gains for certain is said first, and what may lose last") {
  const auto estimate = [](double value, double low, double high) {
    return Estimate{.value = value, .interval = Interval{low, high}};
  };
  std::vector<Remedy> remedies(8);
  remedies[0] = {.id = "may_lose", .predicted = estimate(1760, -300, 3000)};
  remedies[1] = {.id = "unknown"};
  remedies[2] = {.id = "little", .predicted = estimate(50, 40, 60)};
  remedies[3] = {.id = "much", .predicted = estimate(900, 800, 1000)};
  remedies[4] = {
      .id = "measured", .predicted = estimate(500, 400, 600), .measured = estimate(200, 150, 250)};
  remedies[5] = {.id = "refuted",
                 .predicted = estimate(999, 998, 1000),
                 .measured = estimate(-240, -250, -230)};
  remedies[6] = {.id = "also_unknown"};
  remedies[7] = {.id = "half", .measured = estimate(5000, 4900, 5100)};  // It changes training.
  sort_by_gain(remedies);
  std::vector<std::string> order;
  for (const Remedy& remedy : remedies) order.push_back(remedy.id);
  CHECK(order == std::vector<std::string>{"measured", "much", "little", "unknown", "also_unknown",
                                          "half", "refuted", "may_lose"});
}

TEST_CASE("what cannot gain is not said, unless it was run") {
  const auto between = [](double low, double high) {
    return Estimate{.value = (low + high) / 2, .interval = Interval{low, high}};
  };
  std::vector<Remedy> remedies(5);
  remedies[0] = {.id = "gains_nothing", .predicted = between(-80, 6)};
  remedies[1] = {.id = "may_gain", .predicted = between(-80, 60)};
  remedies[2] = {.id = "unknown"};
  remedies[3] = {.id = "only_lost", .predicted = between(-80, 6), .measured = between(-90, -70)};
  remedies[4] = {.id = "no_interval", .predicted = {.value = 1}};
  leave_out_without_gain(650, remedies);
  std::vector<std::string> kept;
  for (const Remedy& remedy : remedies) kept.push_back(remedy.id);
  CHECK(kept == std::vector<std::string>{"may_gain", "unknown", "only_lost", "no_interval"});
}
