#include "cachebisect/pipeline/registry.hpp"

#include <string>

#include "support/errors.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using cachebisect::test::usage_error;

namespace {

StageType stage_type(std::string type, StageKind kind = StageKind::source) {
  return {.type = std::move(type),
          .doc = "d",
          .kind = kind,
          .traits = {},
          .params = {},
          .example = "{}",
          .make = {}};
}

}  // namespace

TEST_CASE("stages are found by type and sorted") {
  Registry registry;
  registry.add(stage_type("read.b"));
  registry.add(stage_type("augment.a"));
  registry.add(stage_type("read.a"));
  REQUIRE(registry.stages().size() == 3);
  CHECK(registry.stages()[0].type == "augment.a");
  CHECK(registry.stages()[1].type == "read.a");
  CHECK(registry.stage("read.b").category() == "read");
}

TEST_CASE("an unknown type names the nearest known one") {
  Registry registry;
  CHECK(usage_error([&] { (void)registry.stage("read.a"); }) ==
        "unknown stage \"read.a\"; none are registered");
  registry.add(stage_type("augment.random_crop"));
  registry.add(stage_type("read.cifar10"));
  CHECK(usage_error([&] { (void)registry.stage("augment.random_corp"); }) ==
        "unknown stage \"augment.random_corp\"; did you mean \"augment.random_crop\"?");
  CHECK(usage_error([&] { (void)registry.train_step("my.step"); }).find("training step") !=
        std::string::npos);
}

TEST_CASE("sample and device stages take fields, others do not") {
  Registry registry;
  registry.add(stage_type("a.source"));
  registry.add(stage_type("a.sample", StageKind::sample));
  registry.add(stage_type("a.device", StageKind::device));
  CHECK(registry.stage("a.source").params.empty());
  REQUIRE(registry.stage("a.sample").params.size() == 1);
  CHECK(registry.stage("a.device").params.at(0).name == "fields");
  CHECK(std::get<std::vector<std::string>>(*registry.stage("a.sample").params[0].default_value) ==
        std::vector<std::string>{"image"});
}

TEST_CASE("invalid declarations are refused") {
  Registry registry;
  for (const char* name : {"", "x", "x.", ".x", "X.y", "a b.c", "a.b.c"}) {
    CAPTURE(name);
    CHECK(usage_error([&] { registry.add(stage_type(name)); }).find("category.name") !=
          std::string::npos);
  }
  registry.add(stage_type("a.b"));
  CHECK(usage_error([&] { registry.add(stage_type("a.b")); }).find("already") != std::string::npos);

  const auto with_param = [&](ParamSpec spec) {
    StageType type = stage_type("a.c");
    type.params = {std::move(spec)};
    return usage_error([&] { registry.add(std::move(type)); });
  };
  CHECK(with_param({.name = "use"}).find("reserved") != std::string::npos);
  CHECK(with_param({.name = "Size"}).find("[a-z0-9_-]") != std::string::npos);
  CHECK(with_param({.name = "p", .default_value = 2.0, .maximum = 1}).find("default") !=
        std::string::npos);
  CHECK(with_param({.name = "p", .default_value = true}).find("default") != std::string::npos);
  CHECK(with_param({.name = "noise", .type = ParamType::jitter}).find("jitter") !=
        std::string::npos);
  CHECK(registry.stages().size() == 1);
}
