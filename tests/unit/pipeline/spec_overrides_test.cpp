// --set PATH=VALUE.
#include <string>

#include "support/spec_errors.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

PipelineSpec set(std::string path, std::string value) {
  return parse(kFakePipeline, {{std::move(path), std::move(value)}});
}

std::string bad(std::string path, std::string value) {
  return refusal(kFakePipeline, {{std::move(path), std::move(value)}});
}

}  // namespace

TEST_CASE("values set by name or number override the file") {
  CHECK(set("batch_size", "32").batch_size == 32);
  CHECK(set("workers", "auto").workers == kAutoWorkers);
  CHECK(set("workers", "\"auto\"").workers == kAutoWorkers);
  CHECK(set("name", "two words").name == "two words");
  CHECK(set("shuffle", "true").shuffle);
  CHECK(set("loader", "batch").loader == LoaderKind::batch);
  CHECK(set("stages.crop.size", "28").stages[2].params.integer("size") == 28);
  CHECK(set("stages.2.size", "28").stages[2].params.integer("size") == 28);
  CHECK(set("stages.random_crop.size", "5").stages[3].params.integer("size") == 5);
  CHECK(set("stages.normalize.mean", "[1,2,3]").stages[4].params.numbers("mean").size() == 3);
  CHECK(set("stages.normalize.mean.1", "9").stages[4].params.numbers("mean")[1] == 9);
  CHECK(set("stages.wait.jitter.cv", "0.5").stages[5].params.jitter().cv == 0.5);
  CHECK(set("stages.read.path", "/x").stages[0].params.string("path") == "/x");
  CHECK(set("train.optimizer.lr", "0.1").train.optimizer.lr == 0.1);
  CHECK(set("emulate.step_ms", "5").emulate->step_ms == 5);
  CHECK(set("emulate.clock_drop", "0.2").emulate->clock_drop == 0.2);
  CHECK(set("emulate.launches", "800").emulate->launches == 800);
  CHECK(set("emulate.launch_us", "6.5").emulate->launch_us == 6.5);
  CHECK(set("emulate.launch_queue", "64").emulate->launch_queue == 64);
  CHECK(set("train", R"({"kind": "emulated"})").train.kind == TrainSpec::Kind::emulated);
  CHECK(parse(R"({"stages": [{"use": "decode.fake"}]})", {{"emulate.step_ms", "5"}})
            .emulate->step_ms == 5);
}

TEST_CASE("later values win, and a renamed stage is found by its new name") {
  CHECK(parse(kFakePipeline, {{"seed", "2"}, {"seed", "3"}}).seed == 3);
  CHECK(parse(kFakePipeline, {{"stages.crop.name", "cut"}, {"stages.cut.size", "3"}})
            .stages[2]
            .params.integer("size") == 3);
}

TEST_CASE("an invalid path names the nearest known name") {
  CHECK(bad("batchsize", "3") ==
        "--set batchsize=3: there is no \"batchsize\"; did you mean \"batch_size\"?");
  CHECK(bad("stages.corp.size", "3") ==
        "--set stages.corp.size=3: there is no stage \"corp\"; did you mean \"crop\"?");
  CHECK(bad("stages.9.size", "3") ==
        "--set stages.9.size=3: there is no stage 9; the file has 9, counted from 0");
  CHECK(has(bad("stages.99999999999999999999999.size", "3"), "there is no stage"));
  CHECK(bad("stages.crop.sise", "3") ==
        "--set stages.crop.sise=3: /stages/2/sise is an unknown key; did you mean \"size\"?");
  CHECK(has(bad("train.optimiser.lr", "3"),
            "/train/optimiser is an unknown key; did you mean \"optimizer\"?"));
  CHECK(has(bad("batch_size.x", "3"), "/batch_size is 64 and has no \"x\" in it"));
  CHECK(has(bad("stages.normalize.mean.7", "3"), "\"7\" is not a place in a list of 2"));
  for (const char* path : {"", ".", "a.", ".a", "stages..size"}) {
    CAPTURE(path);
    CHECK(has(bad(path, "3"), "a path is names separated by dots"));
  }
  std::string deep = "emulate";
  for (int i = 0; i < 1000; ++i) deep += ".a";
  CHECK(has(bad(deep, "3"), "a path is 1 to 32 names"));
}

TEST_CASE("a path keeps bytes that are not UTF-8, also when the spec is changed") {
  const Registry registry = fake_registry();
  const SpecPaths paths{.base_folder = "/base", .cache_folder = "/cache\xfe"};
  const std::string path = "/data/\xff\x1b[31m";
  const PipelineSpec spec =
      parse_pipeline(kFakePipeline, "f.json", registry, paths, {{"stages.read.path", path}});
  CHECK(spec.stages[0].params.string("path") == path);
  const PipelineSpec changed = change_pipeline(spec, registry, {{"batch_size", "8"}});
  CHECK(changed.batch_size == 8);
  CHECK(changed.stages == spec.stages);
  CHECK(changed.stages[0].params.string("cache") == "/cache\xfe/fake");
  CHECK(change_pipeline(spec, registry, {}) == spec);
  CHECK(has(usage_error([&] {
              change_pipeline(spec, registry, {{"bath_size", "8"}});
            }),
            "did you mean \"batch_size\"?"));
}

TEST_CASE("an invalid value is refused as in the file, naming the option") {
  CHECK(bad("batch_size", "0") ==
        "--set batch_size=0: /batch_size must be an integer from 1 to 1048576, not 0");
  CHECK(
      bad("stages.crop.size", "big") ==
      "--set stages.crop.size=big: /stages/2/size must be an integer from 1 to 16384, not \"big\"");
  CHECK(has(bad("train", R"({"kind": "emulate"})"), "--set train="));
  CHECK(has(bad("stages.normalize.mean", "[1,"), "not JSON"));
  CHECK(has(bad("train", "{\"kind\": \"callback\", \"kind\": \"emulated\"}"), "appears twice"));
  CHECK(has(bad("name", "\xff"), "not UTF-8"));
  CHECK(has(bad("seed", "1e400"), "/seed must be"));
  CHECK(has(bad("stages", std::string(100000, '[')), "nested deeper"));
  CHECK(has(bad("name", ""), "/name must be"));
  CHECK(has(refusal("[]", {{"seed", "1"}}), "must hold an object"));
  CHECK(has(refusal(R"({"stages": 3})", {{"stages.0.size", "1"}}), "no list of stages"));
}
