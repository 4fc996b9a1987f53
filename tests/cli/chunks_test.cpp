#include <string>

#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect::test;

TEST_CASE("chunks prints the table of an image, and CSV on request") {
  const auto text = run_tool({"chunks"});
  CHECK(text.exit_code == 0);
  CHECK(text.err.empty());
  CHECK(has(text.out, "\n16x16               16          25      4,096      6,400\n"));
  CHECK(has(text.out, "Fewest bytes: 8x8"));
  const TemporaryFolder folder;
  const std::string file = folder.path("chunks.csv");
  CHECK(run_tool({"chunks", "--csv", file}).out == text.out);
  const auto csv = run_tool({"chunks", "--csv", "-"});
  CHECK(csv.out == read_file(file));
  CHECK(has(csv.out, "\r\n8x8,64,81,4096,5184,78.765625,5041,,\r\n"));
}

TEST_CASE("chunks takes any shape, element, list, array and cost of a request") {
  const auto result =
      run_tool({"chunks", "--sample", "1x128x128x3", "--dtype", "float32", "--chunks",
                "1x128x128x3,8x64x64x3", "--array", "1000x512x512x3", "--compression", "2.5",
                "--latency", "15", "--bandwidth", "200MB", "--parallel", "8"});
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "out of an array of"));
  CHECK(has(result.out, "\n8x64x64x3 "));
  CHECK(has(result.out, "Least time: "));
}

TEST_CASE("chunks refuses what makes no sense, with exit 2, and writes nothing") {
  const TemporaryFolder folder;
  const std::string file = folder.path("chunks.csv");
  const auto refused = [&](std::vector<std::string> options, const std::string& says) {
    CAPTURE(options[0]);
    CAPTURE(options[1]);
    options.insert(options.begin(), {"chunks", "--csv", file});
    const auto result = run_tool(options);
    CHECK(result.exit_code == 2);
    CHECK_MESSAGE(has(result.err, says), result.err);
    CHECK(result.out.empty());
    CHECK(entries_in(folder.path()) == 0);
  };
  refused({"--sample", "64x0"}, "--sample");
  refused({"--sample", "-4"}, "--sample");
  refused({"--chunks", "8x8x8"}, "3 dimensions");
  refused({"--chunks", "8x8,\x1b[31m"}, "\\x1b");
  refused({"--array", "32x32"}, "larger than the array");
  refused({"--dtype", "flaot32"}, "float32");
  refused({"--sample", "4294967296x4294967296"}, "64-bit");
  refused({"--compression", "0"}, "greater than 0");
  refused({"--compression", "nan"}, "greater than 0");
  refused({"--latency", "20"}, "--bandwidth");
  refused({"--latency", "-1", "--bandwidth", "1MB"}, "0 or more");
  refused({"--latency", "1", "--bandwidth", "0"}, "bytes such as");
  refused({"--latency", "1", "--bandwidth", "25%"}, "bytes per second");
  refused({"--latency", "1", "--bandwidth", "1MB", "--parallel", "0"}, "1 or more");
}

TEST_CASE("chunks draws the table") {
  const TemporaryFolder folder;
  const std::string counts = folder.path("counts.png");
  const std::string times = folder.path("times.png");
  CHECK(run_tool({"chunks", "--png", counts}).exit_code == 0);
  CHECK(run_tool({"chunks", "--png", times, "--latency", "20", "--bandwidth", "1MB"}).exit_code ==
        0);
  CHECK(read_file(counts).starts_with("\x89PNG"));
  CHECK(read_file(times).starts_with("\x89PNG"));
  CHECK(read_file(counts) != read_file(times));
  CHECK(run_tool({"chunks", "--png", "-"}).exit_code == 2);
  CHECK(run_tool({"chunks", "--png", counts, "--csv", counts}).exit_code == 2);
  CHECK(run_tool({"chunks", "--png", "/nonexistent/x.png"}).exit_code == 6);
}

TEST_CASE("a CSV that cannot be written is exit 6, and the answer is still printed") {
  const auto result = run_tool({"chunks", "--csv", "/nonexistent/chunks.csv"});
  CHECK(result.exit_code == 6);
  CHECK(has(result.err, "/nonexistent"));
  CHECK(has(result.out, "8x8"));
}
