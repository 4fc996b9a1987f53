// What trials of a script are to write, and where: the adapter writes it.
#include "cachebisect/tune/script_scratch.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/disk_space.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

StageDescription described_stage(const std::string& name, StageKind kind, double bytes) {
  StageDescription described{.name = name, .kind = kind, .cacheable = true};
  described.output_bytes = bytes;
  return described;
}

JobSetting word_setting(const std::string& name, const std::string& code) {
  return {.path = name,
          .name = name,
          .code = code,
          .values = SettingValues::word,
          .words = {"transforms[0]", "sample"}};
}

ChainDescription script_chain() {
  ChainDescription chain;
  chain.name = "train.py";
  chain.samples = 1000;
  chain.stages = {described_stage("read", StageKind::source, 1e5),
                  described_stage("transforms[0] Resize", StageKind::sample, 2e5),
                  described_stage("collate_fn", StageKind::collate, 2e5)};
  chain.settings.of_file = false;
  chain.settings.all = {
      word_setting(kDiskCacheSetting, R"(cached(after={}, disk="FOLDER", disk_limit="LIMIT"))"),
      word_setting(kPreparedSetting, R"(prepare("FOLDER"); prepared("FOLDER"))")};
  return chain;
}

tune::Trial trial_of(const std::string& name, const std::string& written_after = "") {
  return {.id = written_after.empty() ? kDiskCacheId : "prepare",
          .text = "keep samples",
          .edits = {{"/" + name, R"("transforms[0]")"}},
          .written_after = written_after};
}

}  // namespace

TEST_CASE("a cache gets a folder of its own, and the line of code names it") {
  const TemporaryFolder folder;
  tune::ScriptScratch scratch(folder.path("scratch"));
  tune::Trial trial = trial_of(kDiskCacheSetting);
  scratch.make(trial, script_chain(), 1000, {});
  CHECK(trial.folder.starts_with(folder.path("scratch") + "/cache-transforms0-"));
  // 1,000 samples of 200 kB, and what managing them takes.
  CHECK(trial.lines == Texts{R"(cached(after="transforms[0]", disk=")" + trial.folder +
                             R"(", disk_limit="0.25GB"))"});
  const auto value = nlohmann::json::parse(trial.edits[0].value);
  CHECK(value ==
        nlohmann::json{{"after", "transforms[0]"}, {"folder", trial.folder}, {"cold", false}});
  CHECK_FALSE(fs::exists(trial.folder));  // The adapter makes it.
}

TEST_CASE("a data set gets another folder, and so does another script") {
  const TemporaryFolder folder;
  tune::ScriptScratch scratch(folder.path());
  tune::Trial trial = trial_of(kPreparedSetting, "transforms[0] Resize");
  scratch.make(trial, script_chain(), 1000, {});
  CHECK(trial.folder.starts_with(folder.path() + "/prepared-transforms0-"));
  CHECK(trial.lines ==
        Texts{R"(prepare(")" + trial.folder + R"("); prepared(")" + trial.folder + R"("))"});
  ChainDescription other = script_chain();
  other.stages[0].name = "read Photos";
  tune::Trial of_other = trial_of(kPreparedSetting, "transforms[0] Resize");
  scratch.make(of_other, other, 1000, {});
  CHECK(of_other.folder != trial.folder);
}

TEST_CASE("what the adapter wrote is removed, and nothing else") {
  const TemporaryFolder folder;
  tune::ScriptScratch scratch(folder.path());
  tune::Trial trial = trial_of(kDiskCacheSetting);
  scratch.make(trial, script_chain(), 1000, {});
  fs::create_directory(trial.folder);
  const auto write = [&](const std::string& name) {
    fs::copy_file(folder.write("file", "x"), trial.folder + "/" + name);
  };
  for (const std::string name :
       {"cache.sqlite", "cache.sqlite-wal", "shard-00000.tar", "shard-00001.tar.part",
        "positions.bin", "index.json", "progress.jsonl", "progress.jsonl.part"}) {
    write(name);
  }
  SUBCASE("all of it") {
    CHECK(scratch.remove(trial));
    CHECK_FALSE(fs::exists(trial.folder));
  }
  SUBCASE("but for the files of others") {
    write("theirs.tar");
    CHECK_FALSE(scratch.remove(trial));
    CHECK(fs::exists(trial.folder + "/theirs.tar"));
    CHECK_FALSE(fs::exists(trial.folder + "/cache.sqlite"));
  }
  SUBCASE("nothing that was there before") {
    tune::ScriptScratch later(folder.path());
    later.make(trial = trial_of(kDiskCacheSetting), script_chain(), 1000, {});
    CHECK_FALSE(later.remove(trial));
    CHECK(fs::exists(trial.folder + "/index.json"));
  }
}

TEST_CASE("a cache may take no more than most of what is free, unless it is there already") {
  const TemporaryFolder folder;
  const tune::ScratchFolder scratch(folder.path());
  CHECK(scratch.within_room(folder.path("new"), 1e7) == 1e7);
  CHECK(scratch.within_room(folder.path("new"), 1e18) < 1e18);
  CHECK(scratch.within_room(folder.path("new"), 1e18) < free_bytes_at(folder.path()));
  CHECK(scratch.within_room(folder.path(), 1e18) == 1e18);
}

TEST_CASE("a disk without room for the samples of a script is refused before anything is written") {
  const TemporaryFolder folder;
  tune::ScriptScratch scratch(folder.path("scratch"));
  ChainDescription chain = script_chain();
  chain.samples = 5'000'000'000;  // 1 PB.
  tune::Trial trial = trial_of(kDiskCacheSetting);
  try {
    scratch.make(trial, chain, 1000, {});
    FAIL("there was room for 1 PB");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    CHECK(has(error.what(), "are needed"));
  }
  CHECK(trial.folder.empty());
}

TEST_CASE("a stage that the job does not have cannot be written after") {
  const TemporaryFolder folder;
  tune::ScriptScratch scratch(folder.path());
  tune::Trial trial = trial_of(kDiskCacheSetting);
  trial.edits[0].value = R"("transforms[7]")";
  CHECK(has(usage_error([&] { scratch.make(trial, script_chain(), 1000, {}); }), "transforms[7]"));
  trial.edits[0].value = "4";
  CHECK(
      has(usage_error([&] { scratch.make(trial, script_chain(), 1000, {}); }), "cannot write it"));
}
