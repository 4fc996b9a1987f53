// When a cache is proposed, where, and of what size.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/text.hpp"
#include "unit/bisect/cache_situation.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::vector<Proposal> proposals(const CacheSituation& now, std::size_t stage) {
  Advice advice(now.measured, now.waterfall);
  offer_cache(advice, now.waterfall.stages[stage]);
  return advice.proposals();
}

}  // namespace

TEST_CASE("a cache stands behind the last stage that is the same in every epoch") {
  const auto found = proposals(photos(1e10), 1);
  REQUIRE(found.size() == 1);
  const Remedy& remedy = found[0].remedy;
  CHECK(remedy.id == "cache");
  CHECK(remedy.text == "keep samples in memory after decode");
  CHECK(has(remedy.reason, "all samples take 1.1 GB of memory"));
  REQUIRE(remedy.edits.size() == 1);
  CHECK(remedy.edits[0].kind == EditKind::insert);
  CHECK(remedy.edits[0].path == "/stages/2");
  CHECK(remedy.edits[0].value == R"({"use": "cache.memory", "limit_gb": 1.06})");
  REQUIRE(found[0].changes);
  REQUIRE(found[0].changes->stages.size() == 2);
  for (const CostScale& scale : found[0].changes->stages) CHECK(scale.factor == 0);
  CHECK(found[0].changes->added_seconds == 0);
}

TEST_CASE("where memory does not hold all samples, the place that spares most is taken") {
  CacheSituation now = photos(2e8);  // 100 MB: all files, or a tenth of the images
  now.waterfall.stages[0].cpu_seconds_per_sample = 1e-3;
  now.waterfall.stages[1].cpu_seconds_per_sample = 1e-4;
  const auto found = proposals(now, 0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].remedy.text == "keep samples in memory after read");
  CHECK(found[0].remedy.edits[0].path == "/stages/1");
  REQUIRE(found[0].changes->stages.size() == 1);
  CHECK(found[0].changes->stages[0].factor == doctest::Approx(1 - 1e8 / 1.05144e8));
  CHECK(has(found[0].remedy.reason, "95%"));
}

TEST_CASE("a cache before the stage that costs does not help it") {
  CHECK(proposals(photos(1e10), 2).empty());
}

TEST_CASE("nothing is proposed where it cannot work") {
  CHECK(proposals(photos(1e6), 1).empty());
  CHECK(proposals(photos(0), 1).empty());
  CacheSituation cached = photos(1e10);
  cached.measured.chain.stages[1].cache = CacheUse{};
  CHECK(proposals(cached, 1).empty());
  CacheSituation unknown = photos(1e10);
  for (StageReport& stage : unknown.waterfall.stages) stage.output_bytes.reset();
  CHECK(proposals(unknown, 1).empty());
}

namespace {

/// The same in code, behind a sampler; a cache may stand behind what `words` name.
CacheSituation in_code(std::vector<std::string> words) {
  CacheSituation now;
  now.measured.chain.samples = 1000;
  now.measured.machine.memory_available_bytes = 1e10;
  now.measured.chain.settings.of_file = false;
  if (!words.empty()) {
    now.measured.chain.settings.all.push_back({.path = "cache",
                                               .name = "cache",
                                               .code = "cached(dataset, after={})",
                                               .values = SettingValues::word,
                                               .words = std::move(words)});
  }
  now.add("sampler Weighted", "sampler.Weighted", 1e-4, 8, true);
  now.add("read Photos.__getitem__", "read.dataset", 1e-3, 1e6, true);
  now.add("transforms[0] Resize", "augment.Resize", 4e-3, 1e5, true);
  now.add("collate_fn default", "collate.stack", 1e-6, 1e5, true);
  return now;
}

}  // namespace

TEST_CASE("in code a cache is a setting, named by the first word of the stage") {
  const auto found = proposals(in_code({"transforms[0]", "sample"}), 2);
  REQUIRE(found.size() == 1);
  const Remedy& remedy = found[0].remedy;
  CHECK(remedy.text == "keep samples in memory after transforms[0] Resize");
  REQUIRE(remedy.edits.size() == 1);
  CHECK(remedy.edits[0].path == "/cache");
  CHECK(remedy.edits[0].value == R"("transforms[0]")");
  CHECK(remedy.edits[0].kind == EditKind::set);
  // It spares reading and resizing, not the sampler; fetching 100 kB costs 0.1 ms.
  REQUIRE(found[0].changes->stages.size() == 2);
  CHECK(found[0].changes->stages[0].stage == 1);
  CHECK(found[0].changes->stages[0].factor == 0);
  CHECK(found[0].changes->stages[1].factor == 0);
  CHECK(found[0].changes->added_seconds == doctest::Approx(1.025e-4));
}

TEST_CASE("what a sample from a cache costs in code is what was measured on the machine") {
  CacheSituation now = in_code({"transforms[0]", "sample"});
  now.measured.chain.cache_hit = CacheHit{2e-5, 1e-9, 1.5};
  const auto changes = proposals(now, 2).at(0).changes;
  CHECK(changes->added_seconds == doctest::Approx(2e-5 + 1e5 * 1e-9));
  CHECK(changes->added_within == 1.5);
  now.measured.chain.cache_hit->within = 0.1;  // Of an adapter that knows no better.
  CHECK(proposals(now, 2).at(0).changes->added_within == 1);
}

TEST_CASE(
    "in code samples are kept where fetching them costs least, not where all else is spared") {
  CacheSituation now = in_code({"transforms[0]", "transforms[1]", "sample"});
  now.add("transforms[1] ToTensor", "augment.ToTensor", 1e-4, 4e6, true);
  std::swap(now.waterfall.stages[3], now.waterfall.stages[4]);
  std::swap(now.measured.chain.stages[3], now.measured.chain.stages[4]);
  for (int place : {3, 4}) now.waterfall.stages[static_cast<std::size_t>(place)].index = place + 1;
  now.measured.chain.cache_hit = CacheHit{1e-5, 1e-12, 2};
  CHECK(proposals(now, 2).at(0).remedy.edits.at(0).value == R"("transforms[1]")");
  now.measured.chain.cache_hit->seconds_per_byte = 1e-9;
  CHECK(proposals(now, 2).at(0).remedy.edits.at(0).value == R"("transforms[0]")");
}

TEST_CASE("in code a cache without a stage to name holds whole samples, or is not proposed") {
  const auto found = proposals(in_code({"sample"}), 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].remedy.edits[0].value == R"("sample")");
  CHECK(proposals(in_code({"transforms[1]"}), 1).empty());
  CHECK(proposals(in_code({}), 1).empty());
}

TEST_CASE("a cache that limits is not offered to be done once") {
  CacheSituation now = photos(1e9);
  now.add("cache", "cache.disk", 1e-4, 1e6, true);
  const StageReport& cache = now.waterfall.stages.back();
  Advice advice(now.measured, now.waterfall);
  advise_on_sample_stage(advice, cache);
  std::vector<std::string> ids;
  for (const Proposal& one : advice.proposals()) ids.push_back(one.remedy.id);
  CHECK(ids == std::vector<std::string>{"cache_memory", "smaller_samples"});
}

TEST_CASE("writing a data set once is proposed with its command, its bytes and its gain") {
  CacheSituation now = photos(1e10);
  now.measured.chain.file = "my photos.json";
  Advice advice(now.measured, now.waterfall);
  for (const StageReport& stage : now.waterfall.stages) offer_prepared(advice, stage);
  REQUIRE(advice.proposals().size() == 1);  // The first of an id counts; crop is random.
  const Remedy& remedy = advice.proposals()[0].remedy;
  CHECK(remedy.id == "prepare");
  CHECK(remedy.lines ==
        std::vector<std::string>{
            "cachebisect prepare --pipeline 'my photos.json' --after read --out FOLDER"});
  CHECK(has(remedy.reason, "all samples take 100 MB of the disk"));
  CHECK(remedy.edits.empty());
  CHECK(advice.proposals()[0].changes->added_seconds > 0);
}

TEST_CASE("shards are not packed once more: they are read in larger pieces") {
  CacheSituation now = photos(1e10);
  now.waterfall.stages[0].wait_seconds_per_sample = 1;
  const auto ids = [&] {
    Advice advice(now.measured, now.waterfall);
    advise_on_sample_stage(advice, now.waterfall.stages[0]);
    std::vector<std::string> found;
    for (const Proposal& proposal : advice.proposals()) found.push_back(proposal.remedy.id);
    return found;
  };
  const auto has_id = [&](const std::string& id) {
    const auto found = ids();
    return std::ranges::find(found, id) != found.end();
  };
  CHECK(has_id("large_files"));
  CHECK_FALSE(has_id("large_reads"));
  now.waterfall.stages[0].type = "read.shards";
  CHECK_FALSE(has_id("large_files"));
  CHECK(has_id("large_reads"));
}
