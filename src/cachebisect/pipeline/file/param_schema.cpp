// JSON Schema (draft 7) of declared parameters.
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/param_json.hpp"
#include "cachebisect/pipeline/file/tables.hpp"

namespace cachebisect::spec {
namespace {

using nlohmann::ordered_json;

void bound_number(ordered_json& schema, const ParamSpec& spec) {
  if (spec.minimum) schema[spec.exclusive_minimum ? "exclusiveMinimum" : "minimum"] = *spec.minimum;
  if (spec.maximum) schema["maximum"] = *spec.maximum;
}

ordered_json text_schema(const ParamSpec& spec) {
  ordered_json schema{{"type", "string"}};
  if (!spec.choices.empty()) schema["enum"] = spec.choices;
  return schema;
}

ordered_json number_schema(const ParamSpec& spec, const char* type) {
  ordered_json schema{{"type", type}};
  bound_number(schema, spec);
  return schema;
}

ordered_json list_schema(const ParamSpec& spec, ordered_json items) {
  ordered_json schema{{"type", "array"}, {"items", std::move(items)}};
  if (spec.min_items > 0) schema["minItems"] = spec.min_items;
  if (spec.max_items != SIZE_MAX) schema["maxItems"] = spec.max_items;
  return schema;
}

ordered_json type_schema(const ParamSpec& spec) {
  switch (spec.type) {
    case ParamType::boolean:
      return {{"type", "boolean"}};
    case ParamType::integer:
      return number_schema(spec, "integer");
    case ParamType::number:
      return number_schema(spec, "number");
    case ParamType::string:
      return text_schema(spec);
    case ParamType::path:
      return {{"type", "string"}, {"minLength", 1}};
    case ParamType::number_list:
      return list_schema(spec, number_schema(spec, "number"));
    case ParamType::string_list:
      return list_schema(spec, text_schema(spec));
    case ParamType::jitter:
      break;
  }
  return params_schema(jitter_params());
}

}  // namespace

ordered_json param_schema(const ParamSpec& spec) {
  ordered_json schema = type_schema(spec);
  if (!spec.doc.empty()) schema["description"] = spec.doc;
  if (spec.default_value) {
    std::visit([&](const auto& value) { schema["default"] = value; }, *spec.default_value);
  }
  return schema;
}

ordered_json params_schema(const std::vector<ParamSpec>& specs) {
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const ParamSpec& spec : specs) {
    properties[spec.name] = param_schema(spec);
    if (!spec.default_value && !spec.optional && spec.type != ParamType::jitter)
      required.push_back(spec.name);
  }
  ordered_json schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

}  // namespace cachebisect::spec
