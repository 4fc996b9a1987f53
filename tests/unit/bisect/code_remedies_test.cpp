// Remedies for a job in code name lines of it, and nothing of a pipeline file.
#include <algorithm>
#include <string>
#include <vector>

#include "support/text.hpp"
#include "support/torch_settings.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/advice/sentence.hpp"

using namespace cachebisect;
using test::has;

namespace {

StageReport stage(int index, const std::string& name, const std::string& type, double seconds) {
  StageReport result;
  result.index = index;
  result.name = name;
  result.type = type;
  result.category = category_of(type);
  result.cpu_seconds_per_sample = seconds;
  result.wait_seconds_per_sample = 0;
  result.seconds_per_sample = seconds;
  return result;
}

/// What remedies are sought from.
struct CodeSituation {
  Measurements measured;
  Waterfall waterfall;
  Verdict verdict;
};

CodeSituation code_situation(const std::string& named, DeviceKind device = DeviceKind::cuda) {
  CodeSituation now;
  ChainDescription& chain = now.measured.chain;
  chain.settings = test::torch_settings();
  chain.device_kind = device;
  chain.batch_size = 64;
  chain.workers = 2;
  chain.train = "step, Adam";
  chain.copy_pinned = false;
  chain.copy_non_blocking = false;
  chain.batch_contents = BatchContents{64, 114, 3, 9.6e6};
  now.measured.machine.usable_cpus = 8;
  now.waterfall.stages = {stage(1, "read Boxes.__getitem__", "read.dataset", 1e-5),
                          stage(2, "PIL.open", "decode.open", 1e-3),
                          stage(3, "transforms[0] ToTensor", "augment.ToTensor", 1e-4),
                          stage(4, "transforms[1] Normalize", "augment.Normalize", 1e-4),
                          stage(5, "collate_fn default_collate", "collate.default_collate", 1e-5),
                          stage(6, "transfer", "transfer.worker_to_main", 4e-3),
                          stage(7, "pin", "pin.thread", 1e-3),
                          stage(8, "copy", "copy.to", 1e-3)};
  for (const StageReport& one : now.waterfall.stages) {
    chain.stages.push_back({.name = one.name, .type = one.type, .category = one.category});
  }
  chain.stages[2].makes_floats = true;
  chain.stages[3].elementwise = true;
  now.verdict.kind = named.empty() ? VerdictKind::flat : VerdictKind::drop;
  now.verdict.stage = now.verdict.fix_first = named;
  now.verdict.stage_index = 6;
  return now;
}

std::vector<Remedy> remedies_for(const CodeSituation& now) {
  return find_remedies(now.measured, now.waterfall, now.verdict, std::nullopt);
}

const Remedy& remedy(const std::vector<Remedy>& remedies, const std::string& id) {
  const auto found =
      std::find_if(remedies.begin(), remedies.end(), [&](const Remedy& r) { return r.id == id; });
  REQUIRE_MESSAGE(found != remedies.end(), id);
  return *found;
}

bool offers(const std::vector<Remedy>& remedies, const std::string& id) {
  return std::any_of(remedies.begin(), remedies.end(), [&](const Remedy& r) { return r.id == id; });
}

}  // namespace

TEST_CASE("no remedy names a key or an option of a pipeline file") {
  std::vector<std::string> names{""};
  for (const StageReport& one : code_situation("").waterfall.stages) names.push_back(one.name);
  for (const std::string& name : names) {
    for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
      const auto remedies = remedies_for(code_situation(name, device));
      CAPTURE(name);
      CHECK_FALSE(remedies.empty());
      CHECK_FALSE(offers(remedies, "emulate"));
      for (const Remedy& one : remedies) {
        CAPTURE(one.id);
        CHECK(one.edits.empty());
        CHECK(one.flags.empty());
        for (const std::string& text : {one.text, one.reason}) {
          CHECK_FALSE(has(text, "--"));
          CHECK_FALSE(has(text, "/stages"));
          CHECK_FALSE(has(text, "pipeline file"));
        }
        for (const std::string& line : one.lines) CHECK_FALSE(line.starts_with("/"));
      }
    }
  }
}

TEST_CASE(
    "an iterator without settings is looked into, and runs ahead if the training thread runs it") {
  auto situation = code_situation("loader batches");
  ChainDescription& chain = situation.measured.chain;
  std::erase_if(chain.settings.all, [](const JobSetting& s) { return s.path == "workers"; });
  chain.workers = 0;
  StageReport iterator = stage(1, "loader batches", "read.iterator", 1e-3);
  iterator.cpu_seconds_per_sample.reset();
  iterator.wait_seconds_per_sample.reset();
  situation.waterfall.stages = {iterator};
  chain.stages.resize(1);
  const auto found = remedies_for(situation);
  REQUIRE(found.size() == 2);
  CHECK(has(remedy(found, "ahead").lines.front(), "Prefetcher"));
  CHECK(has(remedy(found, "look_inside").lines.front(), "py-spy"));
  chain.workers = 1;
  CHECK_FALSE(offers(remedies_for(situation), "ahead"));
}

TEST_CASE("more workers are a line of code, and an arm that the adapter runs") {
  const auto remedies = remedies_for(code_situation("PIL.open"));
  const Remedy& workers = remedy(remedies, "workers");
  CHECK(workers.lines == std::vector<std::string>{"DataLoader(..., num_workers=8)"});
  CHECK(workers.arm->overrides.at("num_workers") == "8");
  CHECK(has(remedy(remedies, "partial_decode").lines.front(), "draft"));
}

TEST_CASE("decoding at half the size is an arm that workers run") {
  auto situation = code_situation("PIL.open");
  const auto arm_of_it = [&] { return remedy(remedies_for(situation), "partial_decode").arm; };
  REQUIRE(arm_of_it().has_value());
  CHECK(arm_of_it()->overrides.at("decode_scale") == "2");
  situation.measured.chain.workers = 0;
  CHECK_FALSE(arm_of_it().has_value());
}

TEST_CASE("workers are not offered where the job has no such setting") {
  auto situation = code_situation("PIL.open");
  std::erase_if(situation.measured.chain.settings.all,
                [](const JobSetting& setting) { return setting.path == "workers"; });
  for (const Remedy& one : remedies_for(situation)) CHECK(one.id != "workers");
}

TEST_CASE("a copy without overlap is offered pinned memory and no waiting, but no other stream") {
  const auto remedies = remedies_for(code_situation("copy"));
  const Remedy& copy = remedy(remedies, "overlap_copy");
  CHECK(copy.lines == std::vector<std::string>{"DataLoader(..., pin_memory=True)",
                                               ".to(device, non_blocking=True)"});
  CHECK(copy.arm->overrides.size() == 2);
  CHECK(copy.arm->overrides.at("non_blocking") == "true");
  CHECK(offers(remedies, "ship_bytes"));
}

TEST_CASE("nothing is said of waiting for the copy if it is unknown whether the step waits") {
  CodeSituation now = code_situation("copy");
  now.measured.chain.copy_non_blocking.reset();
  CHECK(remedy(remedies_for(now), "overlap_copy").lines ==
        std::vector<std::string>{"DataLoader(..., pin_memory=True)"});
  now.measured.chain.copy_pinned = true;
  CHECK_FALSE(offers(remedies_for(now), "overlap_copy"));
}

TEST_CASE("a transfer of many tensors is offered to pack them, and to share them by name") {
  CodeSituation now = code_situation("transfer");
  const auto remedies = remedies_for(now);
  CHECK(has(remedy(remedies, "pack").text, "114 tensors of a batch into 3"));
  CHECK(has(remedy(remedies, "pack").lines.front(), "torch.cat"));
  CHECK(has(remedy(remedies, "fewer_objects").text, "64 Python objects"));
  const Remedy& sharing = remedy(remedies, "sharing_strategy");
  CHECK(sharing.arm->overrides.at("sharing_strategy") == "\"file_system\"");
  CHECK(has(verdict_sentence(now.measured, now.waterfall, {}, now.verdict),
            "114 tensors and 64 other objects, 9.60 MB"));
  now.measured.chain.batch_contents = BatchContents{0, 2, 2, 9.6e6};
  const auto few = remedies_for(now);
  CHECK_FALSE(offers(few, "pack"));
  // Making a sample takes 1.2 ms, and sending it 4 ms.
  CHECK(remedy(few, "no_workers").lines.front() == "DataLoader(..., num_workers=0)");
  CHECK(has(remedy(few, "narrower").reason, "9.60 MB per batch"));
  now.waterfall.stages[1].cpu_seconds_per_sample = 5e-3;
  CHECK_FALSE(offers(remedies_for(now), "no_workers"));
}

TEST_CASE("pinning is offered to be left out") {
  const Remedy pinning = remedy(remedies_for(code_situation("pin")), "no_pinning");
  CHECK(pinning.lines.front() == "DataLoader(..., pin_memory=False)");
  CHECK(pinning.arm->overrides.at("pin_memory") == "false");
}

TEST_CASE("threads of workers that outnumber the cores are offered to be one") {
  CodeSituation now = code_situation("transforms[1] Normalize", DeviceKind::cpu);
  CHECK_FALSE(offers(remedies_for(now), "worker_threads"));
  now.measured.chain.worker_threads = 8;
  const Remedy threads = remedy(remedies_for(now), "worker_threads");
  CHECK(has(threads.lines.front(), "torch.set_num_threads(1)"));
  CHECK(threads.arm->overrides.at("worker_threads") == "1");
}

TEST_CASE("settings of workers are offered where the adapter gives the line for them") {
  CodeSituation now = code_situation("transforms[1] Normalize", DeviceKind::cpu);
  CHECK_FALSE(offers(remedies_for(now), "malloc"));
  CHECK_FALSE(offers(remedies_for(now), "dask_threads"));
  now.measured.chain.settings.advice["malloc"] = "mallopt(...)";
  now.measured.chain.settings.advice["dask_threads"] = "dask.config.set(...)";
  for (const std::string named : {"transforms[1] Normalize", "read Boxes.__getitem__"}) {
    now.verdict.stage = now.verdict.fix_first = named;
    CAPTURE(named);
    const auto remedies = remedies_for(now);
    CHECK(remedy(remedies, "malloc").arm->overrides.at("malloc") == "\"keep\"");
    CHECK(remedy(remedies, "malloc").lines == std::vector<std::string>{"mallopt(...)"});
    CHECK(remedy(remedies, "dask_threads").arm->overrides.at("dask_threads") == "1");
  }
  now.verdict.stage = now.verdict.fix_first = "collate_fn default_collate";
  CHECK(offers(remedies_for(now), "malloc"));
  now.verdict.stage = now.verdict.fix_first = "transfer";
  CHECK_FALSE(offers(remedies_for(now), "malloc"));
  now.verdict.stage = now.verdict.fix_first = "transforms[1] Normalize";
  now.measured.chain.workers = 0;
  CHECK_FALSE(offers(remedies_for(now), "malloc"));
}

TEST_CASE("what no step reads is offered to be left out, with its gain where bytes are moved") {
  CodeSituation now = code_situation("transfer");
  CHECK_FALSE(offers(remedies_for(now), "unused"));
  now.measured.chain.batch_contents = BatchContents{0, 3, 3, 8e6, 6e6};
  now.measured.chain.settings.advice["unused"] = "del batch['depth']";
  const auto proposal_for = [&](const std::string& named) {
    now.verdict.stage = now.verdict.fix_first = named;
    const auto proposals = find_proposals(now.measured, now.waterfall, now.verdict);
    const auto found =
        std::ranges::find_if(proposals, [](const Proposal& p) { return p.remedy.id == "unused"; });
    REQUIRE_MESSAGE(found != proposals.end(), named);
    return *found;
  };
  for (const std::string named : {"collate_fn default_collate", "transfer", "pin", "copy"}) {
    CAPTURE(named);
    const Proposal unused = proposal_for(named);
    CHECK(has(unused.remedy.reason, "75% of its 8.00 MB"));
    REQUIRE(unused.changes.has_value());
    REQUIRE(unused.other.has_value());
    REQUIRE(unused.changes->stages.size() == 4);
    CHECK(unused.changes->stages.front().stage == 4);
    CHECK(unused.changes->stages.front().factor == doctest::Approx(0.25));
    CHECK(unused.other->stages.front().factor == doctest::Approx(0.625));
  }
  now.verdict.stage = now.verdict.fix_first = "transfer";
  CHECK(remedy(remedies_for(now), "unused").lines ==
        std::vector<std::string>{"del batch['depth']"});
}

TEST_CASE("what no step reads is left out by a live arm where the job can do that") {
  CodeSituation now = code_situation("transfer");
  now.measured.chain.batch_contents = BatchContents{0, 3, 3, 8e6, 6e6};
  now.measured.chain.settings.advice["unused"] = "del batch['depth']";
  CHECK_FALSE(remedy(remedies_for(now), "unused").arm.has_value());
  now.measured.chain.settings.all.push_back({.path = "unused",
                                             .name = "unused",
                                             .code = "del batch['depth']",
                                             .values = SettingValues::word,
                                             .words = {"drop"},
                                             .can_run = true});
  for (const std::string named : {"transfer", "collate_fn default_collate"}) {
    now.verdict.stage = now.verdict.fix_first = named;
    const Remedy unused = remedy(remedies_for(now), "unused");
    REQUIRE_MESSAGE(unused.arm.has_value(), named);
    CHECK(unused.arm->overrides.at("unused") == "\"drop\"");
    CHECK(unused.lines == std::vector<std::string>{"del batch['depth']"});
  }
}

TEST_CASE("element-wise work moves behind .to(device) if that is another device") {
  CHECK(has(remedy(remedies_for(code_situation("transforms[1] Normalize")), "to_device").text,
            "on the device"));
  CHECK_FALSE(offers(remedies_for(code_situation("transforms[1] Normalize", DeviceKind::cpu)),
                     "to_device"));
}

TEST_CASE("what makes floats is moved to the device where the job can run it there") {
  CodeSituation now = code_situation("transfer");
  now.measured.chain.batch_contents.reset();
  CHECK_FALSE(remedy(remedies_for(now), "ship_bytes").arm.has_value());
  now.measured.chain.settings.all.push_back({.path = "on_device",
                                             .name = "on_device",
                                             .code = "f({})",
                                             .values = SettingValues::word,
                                             .words = {"transforms[0]", "transforms[1]"}});
  for (const std::string named : {"transfer", "pin", "copy", "transforms[0] ToTensor"}) {
    now.verdict.stage = now.verdict.fix_first = named;
    CAPTURE(named);
    const Remedy bytes = remedy(remedies_for(now), "ship_bytes");
    REQUIRE(bytes.arm.has_value());
    CHECK(bytes.arm->overrides.at("on_device") == "\"transforms[0]\"");
    CHECK(has(bytes.lines.front(), "PILToTensor"));
  }
  now.verdict.stage = now.verdict.fix_first = "transforms[1] Normalize";
  CHECK(remedy(remedies_for(now), "to_device").arm->overrides.at("on_device") ==
        "\"transforms[1]\"");
  now.measured.chain.settings.all.back().words = {"transforms[1]"};  // Random numbers are drawn.
  now.verdict.stage = now.verdict.fix_first = "copy";
  CHECK_FALSE(remedy(remedies_for(now), "ship_bytes").arm.has_value());
}
