// Edits as JSON Patch, and a pipeline that is patched: an edit that inserts never replaces.
#include <string>

#include "support/all_stages.hpp"
#include "support/spec_errors.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/report/words/json_patch.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

TEST_CASE("each kind of edit has its operation") {
  const json patch = json::parse(json_patch({{"/workers", "4"},
                                             {"/stages/2", R"({"use": "a.b"})"},
                                             {"/stages/3", R"({"use": "a.b"})", EditKind::insert},
                                             {"/stages/4", "null", EditKind::remove},
                                             {"/name", "plain words"}}));
  CHECK(patch[0] == json({{"op", "add"}, {"path", "/workers"}, {"value", 4}}));
  CHECK(patch[1]["op"] == "replace");
  CHECK(patch[2]["op"] == "add");
  CHECK(patch[3] == json({{"op", "remove"}, {"path", "/stages/4"}}));
  CHECK(patch[4]["value"] == "plain words");
}

TEST_CASE("an inserted stage stands before the one that was there, which stays") {
  const PipelineSpec spec = parse(kFakePipeline, {});
  const PipelineSpec changed = patch_pipeline(
      spec, fake_registry(),
      json_patch({{"/stages/3", R"({"use": "synthetic.wait", "name": "cut", "us": 1})",
                   EditKind::insert}}));
  REQUIRE(changed.stages.size() == spec.stages.size() + 1);
  CHECK(changed.stages[3].name == "cut");
  CHECK(changed.stages[4].name == spec.stages[3].name);
}

TEST_CASE("a cache that is inserted into a ready pipeline stands behind decode") {
  const PipelineSpec spec =
      load_pipeline(CACHEBISECT_SOURCE_DIR "/pipelines/imagefolder.json", all_stages());
  const PipelineSpec changed = patch_pipeline(
      spec, all_stages(),
      json_patch(
          {{"/stages/2", R"({"use": "cache.memory", "limit_gb": 0.01})", EditKind::insert}}));
  REQUIRE(changed.stages.size() == spec.stages.size() + 1);
  CHECK(changed.stages[1].use == "decode.image");
  CHECK(changed.stages[2].use == "cache.memory");
  CHECK(changed.stages[3].name == "crop");
  CHECK(changed.file == spec.file);
}

TEST_CASE("a patch that does not fit is refused with its place") {
  const PipelineSpec spec = parse(kFakePipeline, {});
  const auto refused = [&](const char* patch) {
    return usage_error([&] { (void)patch_pipeline(spec, fake_registry(), patch); });
  };
  CHECK(has(refused(R"([{"op": "remove", "path": "/stages/99"}])"), "does not fit the pipeline"));
  CHECK(has(refused(R"([{"op": "add", "path": "/workres", "value": 3}])"), "workers"));
  CHECK(has(refused("nonsense"), "does not fit the pipeline"));
}
