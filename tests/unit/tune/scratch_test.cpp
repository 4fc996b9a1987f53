// What trials write to a scratch folder: a data set, a cache, and never the files of others.
#include "cachebisect/tune/scratch.hpp"

#include <cmath>
#include <filesystem>
#include <stop_token>
#include <string>

#include "support/all_stages.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/report/words/json_patch.hpp"
#include "cachebisect/tune/pipeline_subject.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

namespace fs = std::filesystem;

PipelineSpec digits(const TemporaryFolder& folder) {
  const std::string text = R"({"name": "digits", "batch_size": 8, "workers": 1, "stages": [
      {"use": "read.mnist", "path": ")" +
                           folder.path("mnist") +
                           R"(", "if_missing": "generate", "generated_samples": 200},
      {"use": "decode.mnist"}, {"use": "augment.to_float"}, {"use": "collate.stack"},
      {"use": "copy.device"}], "train": {"kind": "emulated"}, "device": "emulated"})";
  return parse_pipeline(text, "test", all_stages(), {});
}

tune::Trial written_after(const std::string& stage) {
  return {.id = "prepare", .text = "write it once", .written_after = stage};
}

tune::Trial cached(double limit_gb) {
  return {.id = kDiskCacheId,
          .text = "keep samples in a file",
          .edits = {{"/stages/2",
                     R"({"use": "cache.disk", "path": "FOLDER", "limit_gb": )" +
                         std::to_string(limit_gb) + "}",
                     EditKind::insert}}};
}

PipelineSpec with(const tune::Trial& trial, const PipelineSpec& spec) {
  return patch_pipeline(spec, all_stages(), json_patch(trial.edits));
}

}  // namespace

TEST_CASE("a data set is written, the edits read it, and it is removed whole") {
  const TemporaryFolder folder;
  const PipelineSpec spec = digits(folder);
  const std::string scratch_folder = folder.path("scratch");
  {
    tune::Scratch scratch(scratch_folder, all_stages(), {});
    CHECK_FALSE(fs::exists(scratch_folder));
    tune::Trial trial = written_after("decode");
    CHECK(scratch.make(trial, spec, 1000));
    CHECK(trial.folder.starts_with(scratch_folder + "/prepared-decode-"));
    const PipelineSpec changed = with(trial, spec);
    REQUIRE(changed.stages.size() == spec.stages.size() - 1);
    CHECK(changed.stages[0].use == "read.shards");
    CHECK(changed.stages[1].use == "augment.to_float");
    CHECK(Pipeline::from_spec(changed, all_stages()).samples() == 200);
    CHECK(scratch.remove(trial));
    CHECK(fs::is_empty(scratch_folder));
  }
  CHECK_FALSE(fs::exists(scratch_folder));
}

TEST_CASE("a data set of an earlier run is gone on with, and stays") {
  const TemporaryFolder folder;
  const PipelineSpec spec = digits(folder);
  tune::Trial first = written_after("decode");
  tune::Scratch(folder.path(), all_stages(), {}).make(first, spec, 1000);
  tune::Scratch scratch(folder.path(), all_stages(), {});
  tune::Trial again = written_after("decode");
  scratch.make(again, spec, 1000);
  CHECK(again.folder == first.folder);
  CHECK_FALSE(scratch.remove(again));
  CHECK(fs::exists(first.folder + "/index.json"));
}

TEST_CASE("files of others are left alone, also those in a folder that is removed") {
  const TemporaryFolder folder;
  const PipelineSpec spec = digits(folder);
  folder.write("theirs.txt", "x");
  tune::Scratch scratch(folder.path(), all_stages(), {});
  tune::Trial trial = written_after("decode");
  scratch.make(trial, spec, 1000);
  const std::string theirs = trial.folder + "/theirs.txt";
  fs::copy_file(folder.path("theirs.txt"), theirs);
  CHECK_FALSE(scratch.remove(trial));
  CHECK(fs::exists(theirs));
  CHECK(fs::exists(folder.path("theirs.txt")));
  CHECK_FALSE(fs::exists(trial.folder + "/shard-00000.cbs"));
}

#ifdef CACHEBISECT_WITH_SQLITE
TEST_CASE("a cache gets a folder of its own, by the stages before it") {
  const TemporaryFolder folder;
  const PipelineSpec spec = digits(folder);
  tune::Scratch scratch(folder.path("scratch"), all_stages(), {});
  tune::Trial trial = cached(0.05);
  scratch.make(trial, spec, 1000);
  CHECK(trial.folder.starts_with(folder.path("scratch") + "/cache-decode-"));
  const PipelineSpec changed = with(trial, spec);
  CHECK(changed.stages[2].use == "cache.disk");
  CHECK(changed.stages[2].params.string("path") == trial.folder);
  { const Pipeline opened = Pipeline::from_spec(changed, all_stages()); }
  CHECK(fs::exists(trial.folder + "/cache.sqlite"));
  CHECK(scratch.remove(trial));
  CHECK_FALSE(fs::exists(trial.folder));

  PipelineSpec other = spec;
  other.stages[0].params.set("generated_samples", std::int64_t{100});
  tune::Trial of_other = cached(0.05);
  scratch.make(of_other, other, 1000);
  CHECK(of_other.folder != trial.folder);
}
#endif

TEST_CASE("room is looked for first, and the message names what is needed") {
  const TemporaryFolder folder;
  tune::Scratch scratch(folder.path("scratch"), all_stages(), {});
  tune::Trial trial = cached(900'000);
  try {
    scratch.make(trial, digits(folder), 1000);
    FAIL("there was room for 900 TB");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    CHECK(has(error.what(), "about 900 TB are needed"));
    CHECK(has(error.what(), folder.path("scratch")));
  }
  CHECK(trial.folder.empty());
}

TEST_CASE("what cannot be a scratch folder is refused before anything is measured") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& path) {
    return usage_error([&] { tune::Scratch(path, all_stages(), {}); });
  };
  CHECK(has(refused(folder.write("file", "x")), "is no folder"));
  CHECK(has(refused(folder.path("no/such")), "there is no folder " + folder.path("no")));
}

TEST_CASE("a pipeline runs next to itself from what was written, and keeps it or gives it up") {
  const TemporaryFolder folder;
  const tune::Options options{.scratch = folder.path("scratch")};
  tune::PipelineSubject subject(digits(folder), all_stages(), options);
  tune::Trial trial = written_after("decode");
  subject.make(trial, 1000);
  try {
    CHECK(std::isfinite(subject.compare(trial.edits, 2).gain.value));
  } catch (const Error& error) {  // On a machine that is too busy for one round.
    CHECK(has(error.what(), "the budget ended"));
  }
  CHECK(subject.discard(trial));
  CHECK_FALSE(fs::exists(trial.folder));
  CHECK(has(subject.json(), "read.mnist"));

  tune::Trial again = written_after("decode");
  subject.make(again, 1000);
  subject.keep(again.edits);
  CHECK(has(subject.json(), again.folder));
  CHECK_FALSE(has(subject.json(), "read.mnist"));
  CHECK(fs::exists(again.folder + "/index.json"));
}

TEST_CASE("without a scratch folder a pipeline writes nothing") {
  const TemporaryFolder folder;
  const tune::Options options;
  tune::PipelineSubject subject(digits(folder), all_stages(), options);
  tune::Trial trial = written_after("decode");
  CHECK(has(usage_error([&] { subject.make(trial, 1000); }), "no folder to write to"));
  CHECK_FALSE(subject.discard(trial));
}

TEST_CASE("a stop leaves what is whole, and is told as one") {
  const TemporaryFolder folder;
  std::stop_source stop;
  stop.request_stop();
  tune::Scratch scratch(folder.path("scratch"), all_stages(), {.stop = stop.get_token()});
  tune::Trial trial = written_after("decode");
  try {
    scratch.make(trial, digits(folder), 1000);
    FAIL("it was not stopped");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::interrupted);
  }
  CHECK(trial.folder.empty());
}
