#include <string>

#include "cli/command.hpp"
#include <doctest/doctest.h>

using cachebisect::test::contains;
using cachebisect::test::run_tool;
using cachebisect::test::starved_pipeline;

TEST_CASE("stages lists what there is, and documents one") {
  const auto list = run_tool({"stages"});
  CHECK(list.exit_code == 0);
  for (const char* const type :
       {"read.cifar10", "decode.image", "augment.random_crop", "collate.stack", "copy.device"}) {
    CHECK(contains(list.out, type));
  }
  const auto one = run_tool({"stages", "augment.random_crop"});
  CHECK(one.exit_code == 0);
  CHECK(contains(one.out, "padding"));
  const auto unknown = run_tool({"stages", "augment.random_corp"});
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.err, "augment.random_crop"));
}

TEST_CASE("check prints the chain with dtype, shape and bytes, and runs one batch on request") {
  const auto result = run_tool({"check", "--pipeline", "-", "--sample"}, starved_pipeline());
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "slow"));
  CHECK(contains(result.out, "uint8"));
  CHECK(contains(result.out, "one batch and one step: ok"));
}

TEST_CASE("doctor says in words what drops can be trusted") {
  const auto result = run_tool({"doctor", "--seconds", "1"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "usable"));
  CHECK(contains(result.out, "drop"));
}
