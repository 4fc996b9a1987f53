#include <cstdlib>
#include <string>

#include "support/spec_errors.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

// A file with `keys` and a chain of one stage, or with `stage` as its only stage.
std::string with(const std::string& keys) {
  return R"({"stages": [{"use": "decode.fake"}], )" + keys + "}";
}
std::string with_stage(const std::string& stage) { return R"({"stages": [)" + stage + "]}"; }

}  // namespace

TEST_CASE("the loader is read and written") {
  CHECK(parse(with(R"("seed": 1)")).loader == LoaderKind::sample);
  const PipelineSpec spec = parse(with(R"("loader": "batch")"));
  CHECK(spec.loader == LoaderKind::batch);
  CHECK(parse(to_json(spec)) == spec);
  CHECK(parse(with(R"("loader": "sample")")).loader == LoaderKind::sample);
}

TEST_CASE("a file is read with its defaults") {
  const PipelineSpec spec = parse(kFakePipeline);
  CHECK(spec.name == "fake");
  CHECK(spec.seed == 7);
  CHECK(spec.batch_size == 64);
  CHECK(spec.workers == 2);
  CHECK(spec.prefetch == 3);
  CHECK_FALSE(spec.shuffle);
  CHECK(spec.file.empty());
  REQUIRE(spec.stages.size() == 9);
  CHECK(spec.stages[0].skip_damaged);
  CHECK(spec.stages[0].params.string("path") == "/base/data");
  CHECK(spec.stages[0].params.string("cache") == "/cache/fake");
  CHECK(spec.stages[2].params.number("fill") == 0.5);
  CHECK_FALSE(spec.stages[3].params.has("fill"));
  CHECK(spec.stages[3].params.integer("padding") == 0);
  CHECK(spec.stages[4].fields == std::vector<std::string>{"image", "depth"});
  CHECK(spec.stages[4].params.numbers("std") == std::vector<double>{1, 2});
  CHECK(spec.stages[5].params.jitter() == Jitter{Jitter::Kind::lognormal, 0.05});
  CHECK(spec.stages[5].fields == std::vector<std::string>{"image"});
  CHECK(spec.train.kind == TrainSpec::Kind::model);
  CHECK(spec.train.optimizer.momentum == 0.9);
  CHECK(spec.train.sync_every == 1);
  CHECK_FALSE(spec.train.threads);
  REQUIRE(spec.emulate);
  CHECK(spec.emulate->jitter.kind == Jitter::Kind::pareto);

  const PipelineSpec smallest = parse(with_stage(R"({"use": "decode.fake"})"));
  CHECK(smallest == [] {
    PipelineSpec expected;
    expected.stages = {{.use = "decode.fake",
                        .name = "decode",
                        .fields = {"image"},
                        .params = {},
                        .skip_damaged = false}};
    expected.stages[0].params.set("fields", std::vector<std::string>{"image"});
    return expected;
  }());
}

TEST_CASE("stages are named by category or type, and repetitions are numbered") {
  const auto names = [](const std::string& stages) {
    std::string all;
    for (const StageSpec& stage : parse(with_stage(stages)).stages) all += stage.name + " ";
    return all;
  };
  CHECK(
      names(
          R"({"use": "read.fake", "path": "x"}, {"use": "decode.fake"}, {"use": "augment.random_crop", "size": 1},
                 {"use": "collate.fake"}, {"use": "copy.fake"}, {"use": "device.fake"})") ==
      "read decode random_crop collate copy fake ");
  CHECK(names(R"({"use": "decode.fake"}, {"use": "decode.fake"}, {"use": "decode.fake"})") ==
        "decode decode_2 decode_3 ");
  CHECK(names(R"({"use": "decode.fake"}, {"use": "decode.fake", "name": "decode"})") ==
        "decode_2 decode ");
  CHECK(
      names(
          R"({"use": "decode.fake", "name": "decode_2"}, {"use": "decode.fake"}, {"use": "decode.fake"})") ==
      "decode_2 decode decode_3 ");
}

TEST_CASE("invalid names are refused") {
  const auto named = [](const std::string& name) {
    return refusal(with_stage(R"({"use": "decode.fake", "name": )" + name + "}"));
  };
  CHECK(has(named("\"Crop\""),
            "/stages/0/name must be 1 to 64 characters of [a-z0-9_-], not \"Crop\""));
  CHECK(has(named("\"\""), "/stages/0/name must be"));
  CHECK(has(named("\"" + std::string(65, 'a') + "\""), "/stages/0/name must be"));
  CHECK(has(named("\"12\""), "not a digit"));
  CHECK(has(named("3"), "must be a string, not 3"));
  CHECK(named("\"2nd\"").empty());
  CHECK(
      refusal(with_stage(
          R"({"use": "decode.fake", "name": "a"}, {"use": "decode.fake", "name": "a"})")) ==
      "f.json: /stages/1/name is \"a\", which is already the name of /stages/0; names are unique");
}

TEST_CASE("an unknown key or stage names the nearest known one") {
  CHECK(refusal(with(R"("batchsize": 3)")) ==
        "f.json: /batchsize is an unknown key; did you mean \"batch_size\"?");
  CHECK(refusal(with_stage(R"({"use": "augment.random_corp"})")) ==
        "f.json: /stages/0/use is an unknown stage \"augment.random_corp\"; did you mean "
        "\"augment.random_crop\"?");
  CHECK(has(refusal(with_stage(R"({"use": "normalise"})")), "did you mean \"augment.normalize\"?"));
  CHECK(refusal(with_stage(R"({"use": "augment.random_crop", "sise": 3})")) ==
        "f.json: /stages/0/sise is an unknown key; did you mean \"size\"?");
  CHECK(has(refusal(with(R"("train": {"model": "lenet", "clases": 3})")),
            "/train/clases is an unknown key; did you mean \"classes\"?"));
  CHECK(has(refusal(with(
                R"("train": {"model": "lenet", "optimizer": {"kind": "adam", "momentum": 0.9}})")),
            "/train/optimizer/momentum is an unknown key; known: kind, lr, weight_decay"));
  CHECK(has(refusal(with(R"("emulate": {"stepms": 3})")), "did you mean \"step_ms\"?"));
  CHECK(has(refusal(with(R"("emulate": {"jitter": {"cw": 3}})")), "/emulate/jitter/cw"));
  CHECK(has(refusal(with(R"("train": {"use": "my.stop"})")), "did you mean \"my.step\"?"));
  CHECK(has(refusal(with(R"("train": {"use": "my.step", "rat": 1})")), "did you mean \"rate\"?"));
  CHECK(has(refusal(with_stage(R"({"use": "collate.fake", "on_error": "skip"})")),
            "/stages/0/on_error is an unknown key"));
  CHECK(has(refusal(with_stage(R"({"use": "collate.fake", "fields": ["a"]})")),
            "/stages/0/fields is an unknown key"));
  CHECK(has(refusal(R"({"stages": [{"use": "decode.fake"}], "a/b~c": 1})"),
            "/a~1b~0c is an unknown key"));
}

TEST_CASE("a wrong type or range names the pointer and what is allowed") {
  CHECK(refusal(with(R"("batch_size": 0)")) ==
        "f.json: /batch_size must be an integer from 1 to 1048576, not 0");
  CHECK(has(refusal(with(R"("batch_size": 1048577)")), "/batch_size"));
  CHECK(has(refusal(with(R"("batch_size": 1.5)")), "not 1.5"));
  CHECK(has(refusal(with(R"("batch_size": "64")")), "not \"64\""));
  CHECK(has(refusal(with(R"("batch_size": true)")), "not true"));
  CHECK(has(refusal(with(R"("batch_size": null)")), "not null"));
  CHECK(parse(with(R"("batch_size": 64.0)")).batch_size == 64);
  CHECK(
      has(refusal(with(R"("workers": -1)")), "/workers must be an integer from 0 to 1024, not -1"));
  CHECK(has(refusal(with(R"("workers": 1025)")), "/workers"));
  CHECK(has(refusal(with(R"("workers": "many")")),
            "/workers must be \"auto\" or an integer from 0 to 1024"));
  CHECK(parse(with(R"("workers": "auto")")).workers == kAutoWorkers);
  CHECK(parse(with(R"("workers": 0)")).workers == 0);
  CHECK(has(refusal(with(R"("prefetch": 65)")), "/prefetch must be an integer from 0 to 64"));
  CHECK(has(refusal(with(R"("loader": "row")")),
            R"(/loader must be one of "sample", "batch", not "row")"));
  CHECK(has(refusal(with(R"("shuffle": 1)")), "/shuffle must be true or false, not 1"));
  CHECK(has(refusal(with(R"("seed": -1)")), "/seed"));
  CHECK(has(refusal(with(R"("name": "")")), "/name must be 1 to 100"));
  CHECK(has(refusal(with(R"("name": "a\u001b[2J")")), "/name"));
  CHECK(has(refusal(with(R"("device": "cudaa")")), "/device must be auto, cpu"));
  CHECK(has(refusal(with(R"("device": "cuda:")")), "/device"));
  CHECK(parse(with(R"("device": "cuda:1")")).device == "cuda:1");
  CHECK(has(refusal(with(R"("train": 3)")), "/train must be {\"model\""));
  CHECK(has(refusal(with(R"("train": {})")), "/train does not say what to train"));
  CHECK(
      has(refusal(with(R"("train": {"kind": "callback", "model": "lenet"})")), "more than one of"));
  CHECK(has(refusal(with(R"("train": {"kind": "callbak"})")),
            "/train/kind must be one of \"callback\", \"emulated\""));
  CHECK(has(refusal(with(R"("train": {"model": "lennet"})")),
            "/train/model must be one of \"mlp\", \"lenet\""));
  CHECK(has(refusal(with(R"("train": {"model": "lenet", "threads": 0})")), "/train/threads"));
  CHECK(
      has(refusal(with(R"("train": {"model": "lenet", "sync_every": -1})")), "/train/sync_every"));
  CHECK(has(refusal(with(R"("train": {"model": "lenet", "optimizer": {"lr": 0}})")),
            "/train/optimizer/lr must be a number above 0"));
  CHECK(has(refusal(with(R"("train": {"model": "lenet", "optimizer": {"kind": "rms"}})")),
            "/train/optimizer/kind"));
  CHECK(has(refusal(with(R"("train": {"model": "lenet", "optimizer": "sgd"})")),
            "/train/optimizer must be an object"));
  CHECK(has(refusal(with(R"("train": {"use": 5})")), "/train/use must be"));
  CHECK(has(refusal(with(R"("emulate": {"step_ms": 0})")),
            "/emulate/step_ms must be a number above 0"));
  CHECK(has(refusal(with(R"("emulate": {"jitter": {"kind": "normal"}})")),
            "/emulate/jitter/kind must be one of"));
  CHECK(has(refusal(with(R"("emulate": {"jitter": {"kind": "pareto", "cv": -1}})")),
            "/emulate/jitter/cv"));
}

TEST_CASE("the parameters of a stage are checked in place") {
  CHECK(refusal(with_stage(R"({"use": "augment.random_crop"})")) ==
        "f.json: /stages/0 lacks \"size\": an integer from 1 to 16384 (edge of the window in "
        "pixels)");
  CHECK(has(refusal(with_stage(R"({"use": "augment.random_crop", "size": "28"})")),
            "/stages/0/size must be an integer from 1 to 16384, not \"28\""));
  CHECK(has(refusal(with_stage(R"({"use": "augment.normalize", "mean": [1], "std": [0]})")),
            "/stages/0/std must be a list of 1 to 4 numbers, each above 0, not [0]"));
  CHECK(has(refusal(with_stage(R"({"use": "augment.normalize", "mean": 1, "std": [1]})")),
            "/stages/0/mean"));
  CHECK(has(refusal(with_stage(R"({"use": "augment.normalize", "mean": [1, "a"], "std": [1]})")),
            "/stages/0/mean"));
  CHECK(has(refusal(with_stage(R"({"use": "augment.normalize", "mean": [1,2,3,4,5], "std": [1]})")),
            "/stages/0/mean"));
  CHECK(has(refusal(with_stage(R"({"use": "read.fake", "path": "x", "split": "val"})")),
            "one of \"train\", \"test\", not \"val\""));
  CHECK(has(refusal(with_stage(R"({"use": "read.fake", "path": "x", "on_error": "ignore"})")),
            "/stages/0/on_error must be one of \"fail\", \"skip\""));
  CHECK(has(refusal(with_stage(R"({"use": "decode.fake", "fields": []})")),
            "/stages/0/fields must be a list of 1 or more strings"));
  CHECK(has(refusal(with_stage(R"({"use": "decode.fake", "fields": ["a", "a"]})")),
            "/stages/0/fields/1 names field \"a\" a second time"));
  CHECK(
      has(refusal(with_stage(R"({"use": "decode.fake", "fields": [""]})")), "/stages/0/fields/0"));
  CHECK(has(refusal(with_stage("3")), "/stages/0 must be an object"));
  CHECK(has(refusal(with_stage("{}")), "/stages/0 lacks \"use\""));
  CHECK(has(refusal(with_stage(R"({"use": 1})")), "/stages/0/use must be"));
  CHECK(has(refusal(R"({"stages": []})"), "/stages must be a list of 1 to 256 stages"));
  CHECK(has(refusal(R"({"stages": {}})"), "/stages must be a list"));
  CHECK(has(refusal("{}"), "lacks \"stages\""));
}

TEST_CASE("every kind of train is read") {
  CHECK(parse(with(R"("seed": 1)")).train.kind == TrainSpec::Kind::callback);
  CHECK(parse(with(R"("train": {"kind": "callback"})")).train.kind == TrainSpec::Kind::callback);
  CHECK(parse(with(R"("train": {"kind": "emulated", "sync_every": 1})")).train.sync_every == 1);
  const TrainSpec plugin = parse(with(R"("train": {"use": "my.step", "rate": 1})")).train;
  CHECK(plugin.kind == TrainSpec::Kind::plugin);
  CHECK(plugin.params.number("rate") == 1);
  CHECK(plugin.spin);
  for (const char* form : {R"("kind": "callback")", R"("use": "my.step")"}) {
    const TrainSpec train =
        parse(with(std::string(R"("train": {"spin": false, "sync_every": 3, )") + form + "}"))
            .train;
    CHECK_FALSE(train.spin);
    CHECK(train.sync_every == 3);
  }
}

TEST_CASE("paths expand variables and are relative to the file") {
  const auto path = [](const std::string& text) {
    return parse(with_stage(R"({"use": "read.fake", "path": ")" + text + "\"}"))
        .stages[0]
        .params.string("path");
  };
  const auto bad = [](const std::string& text) {
    return refusal(with_stage(R"({"use": "read.fake", "path": ")" + text + "\"}"));
  };
  REQUIRE(setenv("SPEC_TEST_DIR", "/data", 1) == 0);
  REQUIRE(setenv("SPEC_TEST_NESTED", "${SPEC_TEST_DIR}", 1) == 0);
  REQUIRE(setenv("SPEC_TEST_EMPTY", "", 1) == 0);
  REQUIRE(unsetenv("SPEC_TEST_UNSET") == 0);
  CHECK(path("a/b") == "/base/a/b");
  CHECK(path("/a/b") == "/a/b");
  CHECK(path("${SPEC_TEST_DIR}/x") == "/data/x");
  CHECK(path("a${SPEC_TEST_DIR}${SPEC_TEST_DIR}") == "/base/a/data/data");
  CHECK(path("${cache}/x") == "/cache/x");
  CHECK(path("/$x/$") == "/$x/$");
  CHECK(path("${SPEC_TEST_NESTED}") == "/base/${SPEC_TEST_DIR}");
  CHECK(has(bad("${SPEC_TEST_UNSET}/x"),
            "/stages/0/path uses ${SPEC_TEST_UNSET}, which is not set in the environment"));
  CHECK(has(bad("${SPEC_TEST_DIR"), "without its }"));
  CHECK(has(bad("${}"), "invalid variable name"));
  CHECK(has(bad("${A B}"), "invalid variable name"));
  CHECK(has(bad("${SPEC_TEST_EMPTY}"), "is empty after"));
  CHECK(has(bad(""), "not an empty string"));
  CHECK(has(bad("a\\u0000b"), "NUL"));
  CHECK(has(usage_error([] {
              (void)parse_pipeline(kFakePipeline, "f", fake_registry(),
                                   {.base_folder = "", .cache_folder = ""});
            }),
            "there is no cache folder"));
}

TEST_CASE("the effective spec parses back to an equal one") {
  const PipelineSpec spec = parse(kFakePipeline);
  CHECK(parse(to_json(spec)) == spec);
  for (
      const char* train :
      {R"({"kind": "callback"})", R"({"kind": "emulated", "sync_every": 2})",
       R"({"use": "my.step", "rate": 0.1, "spin": false})",
       R"({"model": "resnet18", "threads": 3, "precision": "bf16-mixed", "optimizer": {"kind": "adamw", "lr": 0.1, "weight_decay": 0.01}})"}) {
    CAPTURE(train);
    const PipelineSpec one = parse(with(std::string("\"workers\": \"auto\", \"train\": ") + train));
    CHECK(parse(to_json(one)) == one);
  }
}

TEST_CASE("the example of every stage type survives the way to JSON and back") {
  const Registry registry = fake_registry();
  for (const StageType& type : registry.stages()) {
    CAPTURE(type.type);
    PipelineSpec spec;
    spec.stages = {
        parse_stage(type.example, type, {.base_folder = "/base", .cache_folder = "/cache"})};
    CHECK_FALSE(spec.stages[0].name.empty());
    CHECK(parse(to_json(spec)) == spec);
  }
}

TEST_CASE("one stage can be parsed by itself") {
  const Registry registry = fake_registry();
  const SpecPaths paths{.base_folder = "", .cache_folder = "/c"};
  const StageType& crop = registry.stage("augment.random_crop");
  CHECK(parse_stage(R"({"use": "augment.random_crop", "size": 3})", crop, paths).name ==
        "random_crop");
  CHECK(parse_stage(R"({"size": 3, "name": "c"})", crop, paths).name == "c");
  CHECK(has(usage_error([&] { (void)parse_stage(R"({"size": 0})", crop, paths); }),
            "augment.random_crop: /size must be"));
  CHECK(has(usage_error([&] { (void)parse_stage("[", crop, paths); }), "not JSON"));
}
