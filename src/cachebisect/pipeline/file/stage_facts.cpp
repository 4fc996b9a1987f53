#include "cachebisect/pipeline/file/stage_facts.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/stages.hpp"
#include "cachebisect/pipeline/file/tables.hpp"

namespace cachebisect::spec {
namespace {

using nlohmann::ordered_json;

// JSON on one line with a space after each comma and colon.
std::string spaced(const ordered_json& value) {
  if (value.is_array()) {
    std::string out;
    for (const auto& item : value) out += (out.empty() ? "" : ", ") + spaced(item);
    return "[" + out + "]";
  }
  if (value.is_object()) {
    std::string out;
    for (const auto& [key, item] : value.items()) {
      out += (out.empty() ? "" : ", ") + ordered_json(key).dump() + ": " + spaced(item);
    }
    return "{" + out + "}";
  }
  return value.dump();
}

std::string default_text(const ParamSpec& spec) {
  if (spec.type == ParamType::jitter) return R"({"kind": "none"})";
  if (!spec.default_value) return spec.optional ? "none" : "required";
  const auto as_json = [](const auto& value) { return spaced(ordered_json(value)); };
  return std::visit(as_json, *spec.default_value);
}

std::string kind_text(const StageType& type) {
  std::string text(to_string(type.kind));
  text += type.kind == StageKind::source ? "" : " stage";
  if (type.traits.random) text += "; random, drawn anew for each sample and epoch";
  if (type.traits.stateful) text += "; stateful";
  if (type.traits.side_effects) text += "; has side effects";
  return text;
}

std::string example_text(const StageType& type) {
  ordered_json example{{"use", type.type}};
  example.update(ordered_json::parse(type.example.empty() ? "{}" : type.example));
  return spaced(example);
}

}  // namespace

StageFacts facts_of(const StageType& type) {
  std::vector<ParamSpec> specs = type.params;
  if (takes_on_error(type)) specs.push_back(on_error_param());
  specs.push_back(stage_name_param());
  StageFacts facts{.kind = kind_text(type), .params = {}, .example = example_text(type)};
  for (const ParamSpec& spec : specs) {
    facts.params.push_back({.name = spec.name,
                            .accepted = describe_accepted(spec),
                            .default_value = default_text(spec),
                            .doc = spec.doc});
  }
  return facts;
}

}  // namespace cachebisect::spec
