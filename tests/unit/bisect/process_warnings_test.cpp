#include "cachebisect/bisect/advice/process_warnings.hpp"

#include <string>
#include <vector>

#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include "support/torch_settings.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;

namespace {

constexpr double kLive = 100;  ///< samples per second

Measurements quiet_job() {
  Measurements measured;
  measured.chain.settings = test::torch_settings();
  measured.chain.workers = 8;
  measured.chain.samples = 38'800;
  measured.machine.usable_cpus = 8;
  return measured;
}

std::vector<Warning> warnings_of(const Measurements& measured) {
  return find_process_warnings(measured, Estimate{kLive, {}});
}

Warning only_warning(const Measurements& measured) {
  const auto warnings = warnings_of(measured);
  REQUIRE(warnings.size() == 1);
  return warnings.front();
}

}  // namespace

TEST_CASE("a job without trouble gives no warning") {
  Measurements measured = quiet_job();
  CHECK(warnings_of(measured).empty());
  measured.chain.epoch_start_seconds = 1;  // 0.3% of an epoch
  CHECK(warnings_of(measured).empty());
}

TEST_CASE("the start of an epoch is named with its share of the epoch") {
  Measurements measured = quiet_job();
  measured.chain.epoch_start_seconds = 12;
  const Warning warning = only_warning(measured);
  CHECK(warning.code == "epoch_start");
  CHECK(has(warning.text, "12 s without a batch, 3.0% of its"));
  CHECK(warning.remedy == "DataLoader(..., persistent_workers=True)");
  measured.chain.persistent_workers = true;
  CHECK(warnings_of(measured).empty());
  measured.chain.persistent_workers = false;
  measured.chain.samples = 0;
  CHECK(has(only_warning(measured).text, "12 s without a batch, which"));
  measured.chain.workers = 0;
  CHECK(has(only_warning(measured).text, "prepares itself"));
}

TEST_CASE("an epoch of a rank is what the rank reads of the data set") {
  Measurements measured = quiet_job();
  measured.chain.ranks = 4;
  measured.chain.epoch_samples = 9'700;
  CHECK(warnings_of(measured).empty());
  measured.chain.epoch_start_seconds = 3;
  CHECK(has(only_warning(measured).text, "3.0% of its 100 s"));
}

TEST_CASE("ranks that each read all are told how often a sample is read") {
  Measurements measured = quiet_job();
  measured.chain.epoch_samples = 38'800;
  CHECK(warnings_of(measured).empty());
  measured.chain.ranks = 2;
  const Warning warning = only_warning(measured);
  CHECK(warning.code == "duplicates");
  CHECK(has(warning.text, "each of 2 ranks reads 38,800 of the 38,800 samples in an epoch"));
  CHECK(has(warning.text, "is read 2.0 times"));
  measured.chain.epoch_samples = 19'456;  // A few repeated, so that batches are full.
  CHECK(warnings_of(measured).empty());
  measured.chain.samples = 0;
  CHECK(warnings_of(measured).empty());
}

TEST_CASE("workers that deliver nothing are counted") {
  Measurements measured = quiet_job();
  measured.cache.idle_workers = 6;
  const Warning warning = only_warning(measured);
  CHECK(warning.code == "idle_workers");
  CHECK(has(warning.text, "6 of 8 workers delivered nothing"));
  CHECK(has(warning.remedy, "DataLoader(..., num_workers=2)"));
}

TEST_CASE("threads of all workers are compared with the cores") {
  Measurements measured = quiet_job();
  measured.chain.worker_threads = 2;
  const Warning warning = only_warning(measured);
  CHECK(warning.code == "oversubscribed");
  CHECK(has(warning.text, "8 workers with 2 threads each want 16 cores, and 8.00 can be used"));
  CHECK(has(warning.remedy, "torch.set_num_threads(1)"));
  measured.chain.local_ranks = 4;
  CHECK(has(only_warning(measured).text, "4 ranks of 8 workers"));
  measured.chain.local_ranks = 1;
  measured.machine.usable_cpus = 16;
  CHECK(warnings_of(measured).empty());
}

TEST_CASE("threads of ranks that are measured together are compared with the cores of all") {
  Measurements measured = quiet_job();
  measured.chain.worker_threads = 2;
  measured.chain.ranks = 4;
  measured.chain.usable_cpus = 16;  // of one rank
  CHECK(warnings_of(measured).empty());
  measured.chain.usable_cpus = 8;
  CHECK(has(only_warning(measured).text,
            "4 ranks of 8 workers with 2 threads each want 64 cores, and 32.0 can be used"));
}

TEST_CASE("a step that the host limits is said to be, also in a flat verdict") {
  SimulatedChain chain = test::starved_chain(1e-6);
  Measurements measured = test::measure_chain(chain, {.sustain_seconds = 0});
  const auto report = [&] { return test::report_of(measured); };
  const auto warns = [&] {
    for (const Warning& warning : report().warnings) {
      if (warning.code == "host_bound") return true;
    }
    return false;
  };
  REQUIRE(report().verdict.kind == VerdictKind::flat);
  CHECK_FALSE(warns());
  for (BlockRecord& record : measured.blocks) record.result.device_idle_share = 0.5;
  CHECK_FALSE(warns());
  for (BlockRecord& record : measured.blocks) record.result.device_idle_share = 0.98;
  CHECK(warns());
  CHECK(has(report().verdict.text, "The step is bound by launching"));
  CHECK(has(report().verdict.text, "(98% of the step ends)"));
  CHECK(report().remedies.front().id != "no_sync");
  measured.chain.sync_every = 1;
  CHECK(has(report().verdict.text, "while the device has nothing to do (98% of the step ends)"));
  CHECK(report().remedies.front().id == "no_sync");
}

TEST_CASE("a cpu that auto chose although there is a GPU is a warning with the reason") {
  Measurements measured = quiet_job();
  measured.chain.gpu_problem = "CUDA: the NVIDIA driver serves CUDA up to 12.4";
  CHECK(only_warning(measured).code == "gpu_not_used");
  CHECK(has(only_warning(measured).text, "serves CUDA up to 12.4"));
}

TEST_CASE("checkpoints that measured steps saved are listed once each") {
  Measurements measured = quiet_job();
  measured.blocks.resize(3);
  measured.blocks[0].result.not_kept = {"last.pt"};
  measured.blocks[2].result.not_kept = {"last.pt", "best.pt"};
  const Warning warning = only_warning(measured);
  CHECK(warning.code == "not_kept");
  CHECK(has(warning.text, "checkpoints that measured steps saved or removed were left alone"));
  CHECK(warning.details == std::vector<std::string>{"last.pt", "best.pt"});
  for (int i = 0; i < 20; ++i) measured.blocks[1].result.not_kept.push_back(std::to_string(i));
  CHECK(only_warning(measured).details.size() == 11);
  CHECK(only_warning(measured).details.back() == "and 12 more");
}
