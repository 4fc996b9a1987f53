#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "cli/command.hpp"
#include <doctest/doctest.h>

using cachebisect::test::contains;
using cachebisect::test::run_tool;
using cachebisect::test::starved_pipeline;
using cachebisect::test::TemporaryFolder;

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
  const TemporaryFolder data;
  const auto result = run_tool({"doctor", "--seconds", "2", "--data", data.path()});
  CHECK(result.exit_code == 0);
  for (const char* const label : {"machine  ", "\nsystem   ", "\ndevice   ", "\nmemory   ",
                                  "\ntimers   ", "\nnoise    ", "\nload     ", "\nfloor    "}) {
    CAPTURE(label);
    CHECK(contains(result.out, label));
  }
  CHECK(contains(result.out, "files    " + data.path()));
  const bool answers = contains(result.out, "drops of ") || contains(result.out, "those of ") ||
                       contains(result.out, "Too ");
  CHECK(answers);
}

TEST_CASE("doctor refuses too short a time, and ends when it is told to") {
  CHECK(run_tool({"doctor", "--seconds", "0.1"}).exit_code == 2);
  const auto result = run_tool({"doctor", "--seconds", "60"}, "", [](pid_t child, const auto&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(child, SIGINT);
  });
  CHECK(result.exit_code == 130);
}
