// When a cache in a file is proposed, where, of what size, and what that is predicted to gain.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include "unit/bisect/cache_situation.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"
#include "cachebisect/bisect/costs/cache_file.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"
#include "cachebisect/report/words/json_patch.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::optional<Proposal> disk_cache(const CacheSituation& now, std::size_t stage) {
  Advice advice(now.measured, now.waterfall);
  offer_disk_cache(advice, now.waterfall.stages[stage]);
  if (advice.proposals().empty()) return std::nullopt;
  return advice.proposals().front();
}

}  // namespace

TEST_CASE("where memory does not hold all samples, a file is proposed as a stage to insert") {
  CacheSituation now = photos(2e8);
  now.waterfall.ceiling.value = 2000;
  const auto found = disk_cache(now, 1);
  REQUIRE(found);
  const Remedy& remedy = found->remedy;
  CHECK(remedy.id == kDiskCacheId);
  CHECK(remedy.text == "keep samples in a file after decode");
  CHECK(has(remedy.reason, "memory holds 9.5% of the samples"));
  CHECK(has(remedy.reason, "the file takes 1.1 GB"));
  CHECK(has(remedy.reason, "its disk has to give up to 2.0 GB/s"));
  CHECK(json_patch(remedy.edits) ==
        R"([{"op":"add","path":"/stages/2","value":{"use":"cache.disk","path":"FOLDER",)"
        R"("limit_gb":1.09}}])");
  REQUIRE(found->changes);
  CHECK(found->changes->stages.size() == 2);
  // 1 MB per sample is read, checked and copied.
  CHECK(found->changes->added_seconds == doctest::Approx(1e-5 + 1e6 / 3e9));
}

TEST_CASE("the limit of the file holds all samples, whatever their size") {
  // As measured: bytes of a sample, and what it takes in the file.
  for (const auto& [bytes, in_file] :
       {std::pair(1024.0, 1255.0), {3080.0, 3749.0}, {550'695.0, 553'386.0}}) {
    CAPTURE(bytes);
    CacheSituation now = photos(2e6);
    now.measured.chain.samples = 50'000;
    now.waterfall.stages[1].output_bytes = bytes;
    const auto found = disk_cache(now, 1);
    REQUIRE(found);
    const std::string& stage = found->remedy.edits[0].value;
    const double limit = 1e9 * std::stod(stage.substr(stage.find("_gb\": ") + 6));
    const double largest = std::min(limit / 16, 64.0 * 1024 * 1024);
    CHECK(limit - largest - 2 * 1024 * 1024 > 50'000 * in_file);
    CHECK(limit < 1.5 * 50'000 * in_file);
  }
}

TEST_CASE("where memory holds all samples, a file pays if an epoch takes long") {
  CacheSituation now = photos(1e11);
  now.waterfall.live.value = 100;  // An epoch of 10 s.
  CHECK_FALSE(disk_cache(now, 1));
  now.measured.chain.samples = 9000;  // 1.5 minutes.
  const auto found = disk_cache(now, 1);
  REQUIRE(found);
  CHECK(has(found->remedy.reason, "a later run has its first epoch, which takes 90 s now"));
  now.waterfall.live = {};
  now.measured.machine.memory_available_bytes = 0;
  CHECK_FALSE(disk_cache(now, 1));
}

TEST_CASE("a file stands where its bytes cost less than what they spare") {
  CacheSituation now = photos(1e6);
  // As floats, the samples are four times as large, which takes longer than making floats of them.
  now.waterfall.stages[2].cacheable = true;
  now.waterfall.stages[2].output_bytes = 4e6;
  const auto found = disk_cache(now, 1);
  REQUIRE(found);
  CHECK(found->remedy.text == "keep samples in a file after decode");
}

TEST_CASE("in code, a file is the setting that names the stage before it") {
  CacheSituation now = photos(2e8);
  now.measured.chain.settings.of_file = false;
  for (const std::string key : {kDiskCacheSetting, kPreparedSetting}) {
    now.measured.chain.settings.all.push_back(
        {.path = key,
         .name = key,
         .code = R"(cached(after={}, disk="FOLDER", disk_limit="LIMIT"))",
         .values = SettingValues::word,
         .words = {"decode"}});
  }
  const auto found = disk_cache(now, 1);
  REQUIRE(found);
  CHECK(json_patch(found->remedy.edits) ==
        R"([{"op":"add","path":"/disk_cache","value":"decode"}])");
  CHECK(has(found->remedy.reason, "the file takes 1.1 GB"));
  CHECK(found->remedy.lines ==
        std::vector<std::string>{R"(cached(after="decode", disk="FOLDER", disk_limit="1.14GB"))"});
  // As cachebisect.cached() fetches a sample of 1 MB.
  CHECK(found->changes->added_seconds == doctest::Approx(4e-5 + 1e6 / 1.6e9));

  Advice advice(now.measured, now.waterfall);
  offer_prepared(advice, now.waterfall.stages[1]);
  REQUIRE(advice.proposals().size() == 1);
  CHECK(json_patch(advice.proposals()[0].remedy.edits) ==
        R"([{"op":"add","path":"/prepared","value":"decode"}])");
}

TEST_CASE("the limit in a line of code is what all samples take, or most of what is free") {
  CHECK(file_limit_within(1e9, 1e12) == 1e9);
  CHECK(file_limit_within(1e11, 1e10) == 9e9);
  CHECK(file_limit_within(1e11, 5e6) == 2e7);  // As little as a cache takes.
  const std::string line = R"(cached(disk="FOLDER", disk_limit="LIMIT"))";
  CHECK(with_file_limit(line, 2.5e8) == R"(cached(disk="FOLDER", disk_limit="0.25GB"))");
  CHECK(with_file_limit(line, 0) == line);
  CHECK(with_file_limit("cached()", 1e9) == "cached()");
  ChainDescription chain = photos(1e6).measured.chain;
  CHECK(cache_file_limit(chain, 2) == 0);  // Bytes that nobody knows.
  chain.stages[1].output_bytes = 1e6;
  CHECK(cache_file_limit(chain, 2) > 1.02 * 1e9);
  chain.samples = 0;
  CHECK(cache_file_limit(chain, 2) == 0);
}

TEST_CASE("a file is not proposed where it spares nothing, nor where code cannot have it") {
  CacheSituation cheap = photos(1e6);
  for (StageReport& stage : cheap.waterfall.stages) stage.cpu_seconds_per_sample = 1e-6;
  CHECK_FALSE(disk_cache(cheap, 1));
  CHECK_FALSE(disk_cache(photos(1e6), 2));  // The crop is random.
  CacheSituation in_code = photos(1e6);
  in_code.measured.chain.settings.of_file = false;
  CHECK_FALSE(disk_cache(in_code, 1));
}

namespace {

/// One worker and a decoder that limits; samples of so many bytes, of which memory holds some.
Measurements decoded_run(double bytes) {
  SimulatedChain chain = starved_chain(10e-6);
  chain.workers = 1;
  chain.stages[1].seconds = 1e-3;
  Measurements run = measure_chain(chain, {.budget_seconds = 30});
  run.chain.settings.of_file = true;
  run.chain.samples = 100'000;
  run.machine.memory_available_bytes = 1e8;
  for (std::size_t s = 0; s < 4; ++s) run.chain.stages[s].output_bytes = bytes;
  run.chain.stages[2].cacheable = run.chain.stages[3].cacheable = false;
  return run;
}

}  // namespace

TEST_CASE("a cache in a file gains what reading and decoding cost, less what serving costs") {
  const Measurements run = decoded_run(4e5);
  const Analysis analysis = analyse(run);
  Advice advice(run, analysis.waterfall);
  offer_disk_cache(advice, analysis.waterfall.stages[1]);
  REQUIRE(advice.proposals().size() == 1);
  const Proposal& proposal = advice.proposals().front();
  SimulatedChain changed = starved_chain(10e-6);
  changed.workers = 1;
  changed.stages[0].seconds = proposal.changes->added_seconds;
  changed.stages[1].seconds = 0;
  const Estimate rate = analysis.forecast->after(*proposal.changes);
  CHECK(*rate.value == doctest::Approx(rate_of(changed)).epsilon(0.03));
  REQUIRE(rate.interval);
  CHECK(rate.interval->low > *analysis.waterfall.live.value);
}

TEST_CASE("samples so large that reading them takes as long as decoding are left as they are") {
  const Measurements run = decoded_run(8e6);
  const Analysis analysis = analyse(run);
  Advice advice(run, analysis.waterfall);
  offer_disk_cache(advice, analysis.waterfall.stages[1]);
  CHECK(advice.proposals().empty());
}
