#include "bench/habits/chain.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace cachebisect::habits {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Members& members) {
  Json json = Json::object();
  for (const auto& [key, member] : members) {
    std::visit([&json, &name = key](const auto& value) { json[name] = value; }, member);
  }
  return json;
}

Members named(const std::string& use, const std::string& name, const Members& members) {
  Members all{{"use", use}, {"name", name}};
  all.insert(all.end(), members.begin(), members.end());
  return all;
}

}  // namespace

std::string object_of(const Members& members) { return json_of(members).dump(); }

StageText stage_text(const std::string& use, const std::string& name, const Members& members) {
  const std::string json = object_of(named(use, name, members));
  return {.name = name, .json = json, .without = json};
}

StageText habit_text(const std::string& use, const std::string& name, const Members& members,
                     const Members& free) {
  StageText text = stage_text(use, name, members);
  Members without = named(use, name, members);
  // A key that is there keeps its place and gets the later value.
  without.insert(without.end(), free.begin(), free.end());
  text.without = object_of(without);
  return text;
}

std::string pipeline_json(const HabitChain& chain, bool with_habit) {
  Json json{{"name", chain.habit + "-" + std::to_string(chain.planted.seed)},
            {"seed", chain.planted.seed}};
  json.update(json_of(chain.settings));
  json["shuffle"] = true;
  json["stages"] = Json::array();
  for (const StageText& stage : chain.stages) {
    const std::string& text = with_habit ? stage.json : stage.without;
    if (!text.empty()) json["stages"].push_back(Json::parse(text));
  }
  json["train"] = Json::parse(chain.train);
  json["device"] = chain.emulate.empty() ? "cpu" : "emulated";
  const bool other = !with_habit && !chain.emulate_without.empty();
  const std::string& emulate = other ? chain.emulate_without : chain.emulate;
  if (!emulate.empty()) json["emulate"] = Json::parse(emulate);
  return json.dump(2) + "\n";
}

}  // namespace cachebisect::habits
