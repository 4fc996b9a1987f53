#include <string>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/socket_server.hpp"
#include "support/text.hpp"
#include "support/text_width.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;

TEST_CASE("stages lists all stages and documents one") {
  const auto list = run_tool({"stages"});
  CHECK(list.exit_code == 0);
  for (const char* const type :
       {"read.cifar10", "decode.image", "augment.random_crop", "collate.stack", "copy.device"}) {
    CHECK(has(list.out, type));
  }
  const auto one = run_tool({"stages", "augment.random_crop"});
  CHECK(one.exit_code == 0);
  CHECK(has(one.out, "padding"));
  const auto unknown = run_tool({"stages", "augment.random_corp"});
  CHECK(unknown.exit_code == 2);
  CHECK(has(unknown.err, "augment.random_crop"));
}

TEST_CASE("check prints the chain with dtype, shape and bytes, and runs one batch on request") {
  const auto result = run_tool({"check", "--pipeline", "-", "--sample"}, starved_pipeline());
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "slow"));
  CHECK(has(result.out, "\n1  "));
  CHECK(has(result.out, "uint8"));
  CHECK(widest_line(result.out) <= 80);
  CHECK(has(result.out, "\n\none batch and one step: ok"));
}

TEST_CASE("check says that the storage is emulated, and refuses it behind samples in memory") {
  const auto result =
      run_tool({"check", "--pipeline", "-", "--sample", "--set", "emulate.storage.latency_ms=1"},
               starved_pipeline());
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "\nThe storage is emulated: 1.0 ms, 100 MB/s, 500 requests/s.\n"));
  CHECK(has(result.out, "one batch and one step: ok"));
  const TemporaryFolder folder;
  const auto held = run_tool({"check", "--pipeline", "-"},
                             R"({"stages": [{"use": "read.cifar10", "path": ")" +
                                 folder.path("set") + R"(", "if_missing": "generate",
            "generated_samples": 100, "in_memory": true}, {"use": "decode.cifar"},
            {"use": "collate.stack"}, {"use": "copy.device"}], "train": {"kind": "emulated"},
            "device": "emulated", "emulate": {"storage": {}}})");
  CHECK(held.exit_code == 2);
  CHECK(has(held.err, "emulate.storage: stage 'read' (read.cifar10) holds all samples in memory"));
  CHECK(has(held.err, "leave out \"in_memory\""));
}

TEST_CASE("doctor states which drops can be trusted") {
  const TemporaryFolder data;
  const auto result = run_tool({"doctor", "--seconds", "2", "--data", data.path()});
  CHECK(result.exit_code == 0);
  for (const char* const label : {"machine  ", "\nsystem   ", "\ndevice   ", "\nmemory   ",
                                  "\ntimers   ", "\nnoise    ", "\nload     ", "\nfloor    "}) {
    CAPTURE(label);
    CHECK(has(result.out, label));
  }
  CHECK(has(result.out, "files    " + data.path()));
  const bool answers =
      has(result.out, "drops of ") || has(result.out, "those of ") || has(result.out, "Too ");
  CHECK(answers);
}

TEST_CASE("doctor says what the storage of a folder gives, and whether a job needs more") {
  const TemporaryFolder data;
  const std::string report = data.path("report.json");
  REQUIRE(run_tool({"bisect", "--pipeline", "-", "--budget", "10", "--quiet", "--json", report},
                   starved_pipeline())
              .exit_code == 0);
  const auto doctor = [&] {
    return run_tool({"doctor", "--seconds", "0.5", "--data", data.path(), "--needs", report});
  };
  const auto unknown = doctor();
  CHECK(unknown.exit_code == 2);
  CHECK(has(unknown.err, "does not say what is read"));
  nlohmann::json measured = nlohmann::json::parse(read_file(report));
  measured["reading"] = {{"bytes_per_sample", 1024}, {"ceiling_bytes_per_second", 8e6}};
  data.write("report.json", measured.dump());
  const auto result = doctor();
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "Storage of " + data.path()));
  CHECK(has(result.out, "in flight"));
  CHECK(has(result.out, "so that its training step never waits"));
}

TEST_CASE("doctor refuses a folder that is not there, and a job without a folder") {
  const auto missing = run_tool({"doctor", "--data", "/nowhere/at/all"});
  CHECK(missing.exit_code == 2);
  CHECK(has(missing.err, "--data: there is no folder"));
  const auto alone = run_tool({"doctor", "--needs", "report.json"});
  CHECK(alone.exit_code == 2);
  CHECK(has(alone.err, "--data DIR or --url URL"));
}

TEST_CASE("doctor refuses too short a time") {
  CHECK(run_tool({"doctor", "--seconds", "0.1"}).exit_code == 2);
}

TEST_CASE("doctor says what the server of an object gives") {
#ifdef CACHEBISECT_WITH_HTTP_CLIENT
  const SocketServer server([](const std::string& head) {
    const bool is_part = has(head, "Range: bytes=0-0");
    return Said{is_part ? http_answer("206 Part", "Content-Range: bytes 0-0/1000\r\n", "x")
                        : http_answer("200 OK", "", std::string(1000, 'x'))};
  });
  const TemporaryFolder folder;
  const std::string list = folder.write("urls", server.url("/x?secret") + "\n");
  const auto result = run_tool({"doctor", "--seconds", "0.5", "--url", "@" + list});
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "Storage of " + server.url("")));
  CHECK(has(result.out, "whole objects"));
  CHECK_FALSE(has(result.out, "secret"));
  const SocketServer refuses(
      [](const std::string& /*head*/) { return Said{http_answer("403 No", "", "")}; });
  const auto refused = run_tool({"doctor", "--seconds", "0.5", "--url", refuses.url("/x")});
  CHECK(refused.exit_code == 3);
  CHECK(has(refused.out, "HTTP status 403"));
#else
  const auto lacking = run_tool({"doctor", "--seconds", "0.5", "--url", "http://127.0.0.1/x"});
  CHECK(lacking.exit_code == 2);
  CHECK(has(lacking.err, "libcurl4-openssl-dev"));
#endif
  const auto wrong = run_tool({"doctor", "--url", "s3://bucket/key"});
  CHECK(wrong.exit_code == 2);
  CHECK(has(wrong.err, "no URL"));
}
