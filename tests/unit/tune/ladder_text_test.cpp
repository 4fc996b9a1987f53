// The ladder as text and as JSON.
#include "cachebisect/tune/ladder_text.hpp"

#include <algorithm>
#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/tune/ladder_json.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

tune::Result sample_result() {
  tune::Result result;
  result.name = "flowers";
  result.device = "emulated";
  result.start = {.value = 1000};
  result.start_seconds = 0.064;
  result.best = {.value = 1600};
  result.ceiling = {.value = 2000};
  result.trials = {
      {.id = "workers",
       .text = "use 4 workers instead of 2",
       .edits = {{"/workers", "4"}},
       .predicted = {.value = 0.7, .interval = Interval{0.5, 0.8}},
       .measured = {.value = 0.6, .interval = Interval{0.58, 0.62}},
       .kept = true,
       .samples_per_second = 1600,
       .step_seconds = 0.04},
      {.id = "scale",
       .text = "decode at half size",
       .edits = {{"/stages/1/scale", "2"}},
       .measured = {.value = -0.1, .interval = Interval{-0.2, -0.05}}},
      {.id = "odd", .text = "pin", .edits = {{"/x", "1"}}, .fault = "no \x1b[2J such key"}};
  result.verdict = "decode costs 20% of throughput.";
  result.end = "nothing that was tried gains 1% or more";
  result.seconds = 12;
  result.pipeline_json = R"({"workers": 4})";
  return result;
}

}  // namespace

TEST_CASE("the ladder shows each trial, what was kept and how it ended") {
  const std::string text = to_text(sample_result(), {.columns = 100});
  CAPTURE(text);
  for (const char* part :
       {"flowers  device emulated; ceiling 2,000 samples/s", "1,000", "64.00", "50%", "1.00",
        "+70% (50 to 80%)", "+60% (58 to 62%)", "1,600", "40.00", "80%", "1.60",
        "1. use 4 workers instead of 2: kept", "in the file: /workers = 4",
        "2. decode at half size: not kept", "-10%", "3. pin: cannot run: no",
        "Nothing that was tried gains 1% or more. 3 changes tried, 1 kept", "decode costs 20%"}) {
    CHECK_MESSAGE(has(text, part), part);
  }
  CHECK_FALSE(has(text, "\x1b[2J"));
}

TEST_CASE("the ladder says what was written, what became of it, and what could be tried") {
  tune::Result result = sample_result();
  result.trials[0].folder = "/scratch/prepared";
  result.trials[1].folder = "/scratch/cache";
  result.trials[1].removed = true;
  result.untried = {{.id = "prepare",
                     .text = "write it once",
                     .predicted = {.value = 0.7, .interval = Interval{0.5, 0.8}}},
                    {.id = "cache_disk", .text = "keep it in a file"}};
  const std::string text = to_text(result, {.columns = 200});
  CAPTURE(text);
  CHECK(has(text, "kept; what it wrote is in /scratch/prepared"));
  CHECK(has(text, "not kept; what it wrote is removed"));
  std::string flat = text;
  std::ranges::replace(flat, '\n', ' ');
  CHECK(has(flat,
            "With --scratch FOLDER it also tries: write it once: +70% (50 to 80%) predicted; "
            "keep it in a file."));
  const auto json = nlohmann::json::parse(tune::to_json(result));
  CHECK(json["trials"][0]["folder"] == "/scratch/prepared");
  CHECK(json["trials"][1]["removed"] == true);
  CHECK(json["untried"].size() == 2);
  CHECK(tune::read_ladder(tune::to_json(result), "ladder.json").untried.size() == 2);
}

TEST_CASE("the ladder as JSON holds every trial and the tuned pipeline") {
  const auto json = nlohmann::json::parse(tune::to_json(sample_result()));
  CHECK(json["pipeline"]["workers"] == 4);
  CHECK(json["trials"].size() == 3);
  CHECK(json["trials"][0]["predicted"]["interval"] == nlohmann::json{0.5, 0.8});
  CHECK(json["trials"][0]["measured"]["gain"] == 0.6);
  CHECK(json["trials"][0]["edits"][0]["path"] == "/workers");
  CHECK(json["trials"][1]["kept"] == false);
  CHECK(json["trials"][1]["predicted"]["gain"].is_null());
  CHECK(json["trials"][2]["fault"] == "no \x1b[2J such key");
  CHECK(json["start"]["samples_per_second"] == 1000);
  CHECK(json["interrupted"] == false);
}

TEST_CASE("a ladder is read as it was written") {
  const std::string text = tune::to_json(sample_result());
  CHECK(tune::to_json(tune::read_ladder(text, "ladder.json")) == text);
}

TEST_CASE("what is no ladder is refused with its place") {
  const auto refused = [](const char* text) {
    return usage_error([&] { (void)tune::read_ladder(text, "ladder.json"); });
  };
  CHECK(has(refused("[]"), "ladder.json"));
  CHECK(has(refused("{}"), "/pipeline"));
  CHECK(has(refused(R"({"trials": [{"edits": 3}], "pipeline": {}})"), "/trials/0/edits"));
  CHECK(has(refused("{"), "ladder.json:1"));
  CHECK(has(usage_error([] { (void)tune::load_ladder("/nowhere/ladder.json"); }), "/nowhere"));
}
