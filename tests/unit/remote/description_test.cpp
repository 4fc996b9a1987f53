// What stands next to the chain in the answer to `describe`: arms, settings, advice.
#include <string>
#include <vector>

#include "support/adapter_json.hpp"
#include "support/errors.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/remote/messages.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

json described() {
  json answer;
  answer["chain"] = to_json(SimulatedReplayer(starved_chain()).describe());
  return answer;
}

/// As it is received: numbers without a sign.
AdapterDescription description_of(const json& answer) {
  return read_description(json::parse(answer.dump()));
}

}  // namespace

TEST_CASE("what an answer to describe says of arms and settings is refused by its place") {
  struct Case {
    std::string field;
    json value;
    std::string place;  ///< and what must be there
  };
  const auto of_values = [](const json& values) {
    return json::array({{{"name", "workers"}, {"code", "{}"}, {"values", values}}});
  };
  const std::vector<Case> cases{
      {"settings", 1, "': field 'settings' must be an array"},
      {"settings", {1}, "': field 'settings[0]' must be an object"},
      {"settings", json::array({{{"name", 1}}}), "', 'settings[0]': field 'name' must be a string"},
      {"settings", json::array({{{"name", "a"}}}), "', 'settings[0]': field 'code' must be there"},
      {"settings", json::array({{{"name", "a"}, {"code", "b"}}}), "field 'values' must be there"},
      {"settings", of_values(json::object()), "', 'values': field 'min' must be there"},
      {"settings", of_values({{"min", 0}, {"words", json::array()}}), "field 'max' must be there"},
      {"settings", of_values({{"min", -1}, {"max", 1}}), "field 'min' must be an integer from 0"},
      {"settings", of_values({{"flags", {"False"}}}),
       "', 'settings[0]', 'values': field 'flags' must be how false and true are written"},
      {"settings", of_values({{"words", {1}}}), "field 'words[0]' must be a string"},
      {"advice", {{"half", 1}}, "': field 'advice.half' must be a string"},
      {"arms", json::array({{{"kind", "replay"}}}),
       "', 'arms[0]': field 'boundaries' must be there"},
      {"arms", json::array({{{"kind", "bypass"}, {"stages", {-1}}}}),
       "field 'stages[0]' must be an integer of at least 0"},
      {"arms", json::array({{{"kind", "replay"}, {"boundaries", {0, 9}}}}),
       "': field 'arms' must be of boundaries 0 to "},
      {"arms", json::array({{{"kind", "bypass"}, {"stages", {0}}}}), "and of stages 1 to "},
      {"arms", json::array({json::object()}), "', 'arms[0]': field 'kind' must be there"},
      {"expect_samples_per_second", "fast", "must be a number"},
      {"settling_steps", -1, "must be an integer from 0"},
      {"notes", {1}, "field 'notes[0]' must be a string"},
      {"rank", 1.5, "field 'rank' must be an integer from 0"}};
  for (const auto& [field, value, place] : cases) {
    CAPTURE(place);
    json answer = described();
    answer[field] = value;
    const auto reading = [&] { static_cast<void>(description_of(answer)); };
    const std::string error = error_message(reading, ErrorKind::internal);
    CHECK(error.starts_with("the answer to 'describe'"));
    CHECK_MESSAGE(has(error, place), error);
  }
}

TEST_CASE("settings have their own defaults in messages, and arms of later versions are ignored") {
  json answer = described();
  answer["arms"] = {{{"kind", "replay"}, {"boundaries", {0, 1}}},
                    {{"kind", "later"}, {"boundaries", "all"}}};
  answer["settings"] = json::array(
      {{{"name", "pin"}, {"code", "pin={}"}, {"values", {{"flags", {"no", "yes"}}}}},
       {{"name", "way"}, {"path", "a.b"}, {"code", "{}"}, {"values", {{"words", {"x"}}}}},
       {{"name", "n"}, {"code", "{}"}, {"values", {{"min", 2}, {"max", 9}}}, {"can_run", true}}});
  const AdapterDescription description = description_of(answer);
  CHECK(description.boundaries == std::vector<int>{0, 1});
  const JobSettings& settings = description.chain.settings;
  CHECK_FALSE(settings.of_file);
  REQUIRE(settings.all.size() == 3);
  CHECK(settings.all[0].path == "pin");
  CHECK(settings.all[0].values == SettingValues::flag);
  CHECK(settings.all[0].words == std::vector<std::string>{"no", "yes"});
  CHECK_FALSE(settings.all[0].can_run);
  CHECK(settings.all[1].path == "a.b");
  CHECK(settings.all[1].values == SettingValues::word);
  CHECK(settings.all[2].values == SettingValues::count);
  CHECK(settings.all[2].min == 2);
  CHECK(settings.all[2].max == 9);
  CHECK(settings.all[2].can_run);
  answer["settings"] = nullptr;
  CHECK(description_of(answer).chain.settings.of_file);
}
