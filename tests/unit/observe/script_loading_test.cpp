#include "cachebisect/observe/script_loading.hpp"

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect;
using nlohmann::json;
using test::error_message;
using test::has;

namespace {

json loading_of_one_worker() {
  return {{"begin_ns", 1'790'000'000'000'000'000},
          {"seconds", 1.0},
          {"workers", {{{"began", {0, 0.5}}, {"collating", {0.25, 0.75}}, {"ended", {0.375, 1}}}}}};
}

}  // namespace

TEST_CASE("the batches of each worker are read") {
  const ScriptLoading loading = read_script_loading(loading_of_one_worker().dump());
  CHECK(loading.begin == 1'790'000'000'000'000'000);
  REQUIRE(loading.workers.size() == 1);
  REQUIRE(loading.workers[0].size() == 2);
  CHECK(loading.workers[0][1].collating == 0.75);
}

TEST_CASE("what is not as the script's process writes it is refused with its place") {
  const auto complaint = [](const json& changed) {
    return error_message([&] { (void)read_script_loading(changed.dump()); }, ErrorKind::data);
  };
  json text = loading_of_one_worker();
  CHECK(has(error_message([] { (void)read_script_loading(""); }, ErrorKind::data),
            "the batches of the script's loader"));
  text["workers"][0]["ended"] = {0.375};
  CHECK(has(complaint(text), "ended"));
  text["workers"][0]["ended"] = {0.125, 1};
  CHECK(has(complaint(text), "ended"));
  text["workers"][0]["ended"] = {"a", 1};
  CHECK(has(complaint(text), "ended"));
  text = loading_of_one_worker();
  text["seconds"] = -1;
  CHECK(has(complaint(text), "seconds"));
  text.erase("begin_ns");
  CHECK(has(complaint(text), "begin_ns"));
}
