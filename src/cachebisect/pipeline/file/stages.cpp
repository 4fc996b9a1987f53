#include "cachebisect/pipeline/file/stages.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/pipeline/chain.hpp"
#include "cachebisect/pipeline/file/param_json.hpp"
#include "cachebisect/pipeline/file/tables.hpp"

namespace cachebisect::spec {
namespace {

using nlohmann::json;

// The text of a member; empty if there is none.
std::string text_of(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string unused_name(const std::string& base, const std::set<std::string>& used) {
  std::string name = base;
  for (std::size_t i = 2; used.contains(name); ++i) name = base + "_" + std::to_string(i);
  return name;
}

void check_name(const std::string& name, const SettingPath& at, const Context& context) {
  if (!is_plain_name(name) || name.size() > kMaxNameLength) {
    context.fail(at, "must be 1 to " + std::to_string(kMaxNameLength) +
                         " characters of [a-z0-9_-], not " + quote(name));
  }
  if (std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) {
    context.fail(at, "needs a character that is not a digit (a number is a stage's place), not " +
                         quote(name));
  }
}

void check_unique_names(const json& stages, const SettingPath& at, const Context& context) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::string name = text_of(stages[i], "name");
    if (name.empty()) continue;
    const auto [place, is_new] = first.emplace(name, i);
    if (is_new) continue;
    context.fail(at.at(i).at("name"), "is " + quote(name) + ", which is already the name of " +
                                          context.place(at.at(place->second)) +
                                          "; names are unique");
  }
}

const StageType& type_of(const json& object, const Registry& registry, const SettingPath& at,
                         const Context& context) {
  if (!object.is_object())
    context.fail(at, "must be an object {\"use\": TYPE, ...}, not " + clipped(object));
  const auto use = object.find("use");
  if (use == object.end())
    context.fail(at, "lacks \"use\": the stage's type, as `cachebisect stages` lists them");
  if (!use->is_string())
    context.fail(at.at("use"), "must be a stage type, a string, not " + clipped(*use));
  try {
    return registry.stage(use->get_ref<const std::string&>());
  } catch (const Error& error) {
    context.fail(at.at("use"), std::string("is an ") + error.what());
  }
}

std::vector<std::string> keys_of(const StageType& type) {
  std::vector<std::string> keys{"use", "name"};
  if (takes_on_error(type)) keys.emplace_back("on_error");
  for (const ParamSpec& spec : type.params) keys.push_back(spec.name);
  return keys;
}

void check_fields(const std::vector<std::string>& fields, const SettingPath& at,
                  const Context& context) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].empty()) context.fail(at.at(i), "must be a field's name, not an empty string");
    if (!seen.insert(fields[i]).second)
      context.fail(at.at(i), "names field " + quote(fields[i]) + " a second time");
  }
}

}  // namespace

bool takes_on_error(const StageType& type) noexcept {
  return type.kind == StageKind::source || type.kind == StageKind::sample;
}

std::vector<std::string> stage_names(const json& stages) {
  if (!stages.is_array()) return {};
  std::set<std::string> used;
  for (const json& stage : stages) used.insert(text_of(stage, "name"));
  std::vector<std::string> names;
  for (const json& stage : stages) {
    std::string name = text_of(stage, "name");
    if (name.empty()) {
      const std::string base(base_stage_name(text_of(stage, "use")));
      if (!base.empty()) name = unused_name(base, used);
    }
    used.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

StageSpec parse_stage_object(const json& object, const StageType& type, const SettingPath& at,
                             const Context& context) {
  check_keys(object, keys_of(type), at, context);
  StageSpec stage;
  stage.use = type.type;
  if (const auto name = object.find("name"); name != object.end()) {
    if (!name->is_string()) context.fail(at.at("name"), "must be a string, not " + clipped(*name));
    stage.name = name->get<std::string>();
    check_name(stage.name, at.at("name"), context);
  }
  if (takes_on_error(type)) {
    stage.skip_damaged =
        parse_params(object, {on_error_param()}, at, context).string("on_error") == "skip";
  }
  stage.params = parse_params(object, type.params, at, context);
  if (stage.params.has("fields")) {
    stage.fields = stage.params.strings("fields");
    check_fields(stage.fields, at.at("fields"), context);
  }
  return stage;
}

std::vector<StageSpec> parse_stages(const json& stages, const Registry& registry,
                                    const Context& context) {
  const SettingPath at = SettingPath().at("stages");
  if (!stages.is_array() || stages.empty() || stages.size() > kMaxStages) {
    context.fail(at, "must be a list of 1 to " + std::to_string(kMaxStages) + " stages, not " +
                         clipped(stages));
  }
  std::vector<StageSpec> out;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageType& type = type_of(stages[i], registry, at.at(i), context);
    out.push_back(parse_stage_object(stages[i], type, at.at(i), context));
  }
  check_unique_names(stages, at, context);
  const std::vector<std::string> names = stage_names(stages);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].name = names[i];
  return out;
}

}  // namespace cachebisect::spec
