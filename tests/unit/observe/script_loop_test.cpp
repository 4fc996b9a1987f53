#include "cachebisect/observe/script_loop.hpp"

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect;
using doctest::Approx;
using test::error_message;
using test::has;

namespace {

using Json = nlohmann::json;

Json two_batches() {
  return {{"version", 1},
          {"name", "train.py"},
          {"device", "CPU"},
          {"torch", "2.11"},
          {"workers", 2},
          {"batch_size", 4},
          {"ended_by", "epochs"},
          {"first_batch_seconds", 0.5},
          {"call_seconds", 1e-6},
          {"epochs", 1},
          {"batches",
           {{"epoch", {0, 1}},
            {"samples", {4, 3}},
            {"load", {1, 2}},
            {"forward", {1, 1}},
            {"backward", {2, 9}},
            {"optimizer", {0.5, 0.5}},
            {"total", {5, 6}},
            {"wait", {1, 2}}}}};
}

std::string refusal(const std::string& text) {
  return error_message([&] { static_cast<void>(read_script_loop(text)); }, ErrorKind::data);
}

}  // namespace

TEST_CASE("what the hook writes is read, and other is what is left") {
  const ScriptLoop run = read_script_loop(two_batches().dump());
  REQUIRE(run.batches.size() == 2);
  CHECK(run.workers == 2);
  CHECK(run.ended_by == LoopEnd::epochs);
  CHECK(run.batches[0].of(TimePart::backward) == 2);
  CHECK(run.batches[0].of(TimePart::other) == Approx(0.5));
  CHECK(run.batches[1].epoch == 1);
  CHECK(run.batches[1].samples == 3);
  // Rounded times never exceed their batch.
  CHECK(run.batches[1].of(TimePart::backward) == 3);
  CHECK(run.batches[1].of(TimePart::other) == 0);
}

TEST_CASE("the hook is asked for no more than the limits") {
  const Json asked = Json::parse(script_loop_request(
      "/tmp/t.json", {.epochs = 2, .max_batches = 7, .max_seconds = 1.5}, true));
  CHECK(asked == Json{{"file", "/tmp/t.json"},
                      {"epochs", 2},
                      {"max_batches", 7},
                      {"max_seconds", 1.5},
                      {"then", "continue"}});
  CHECK(Json::parse(script_loop_request("", {}, false)).at("then") == "exit");
}

TEST_CASE("a file that is not what the hook writes is refused") {
  CHECK(has(refusal("{\"version\": 1"), "the times of the script"));
  Json other = two_batches();
  other["version"] = 2;
  CHECK(has(refusal(other.dump()), "version"));
  Json uneven = two_batches();
  uneven["batches"]["load"].push_back(1);
  CHECK(has(refusal(uneven.dump()), "load"));
  Json negative = two_batches();
  negative["batches"]["forward"][0] = -1;
  CHECK(has(refusal(negative.dump()), "forward"));
  Json text = two_batches();
  text["batches"] = "none";
  CHECK(has(refusal(text.dump()), "batches"));
  for (const double epoch : {1e300, 0.5}) {
    Json odd = two_batches();
    odd["batches"]["epoch"][1] = epoch;
    CHECK(has(refusal(odd.dump()), "'epoch' must be whole numbers"));
  }
}
