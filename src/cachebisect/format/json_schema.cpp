#include "cachebisect/format/json_schema.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace cachebisect {
namespace {

using Json = JsonSchema::Json;

Json object_schema(bool nullable) {
  return {{"type", nullable ? Json::array({"object", "null"}) : Json("object")},
          {"properties", Json::object()},
          {"required", Json::array()}};
}

}  // namespace

JsonSchema::JsonSchema()
    : document_(std::make_unique<Json>(object_schema(false))), open_{document_.get()} {}

JsonSchema::~JsonSchema() = default;

Json& JsonSchema::place(const FieldKey& key) {
  Json& parent = *open_.back();
  if (key.presence != Presence::added) parent["required"].push_back(key.name);
  Json& field = parent["properties"][std::string(key.name)];
  field = Json::object();
  if (!key.doc.empty()) field["description"] = key.doc;
  return field;
}

void JsonSchema::add(const FieldKey& key, std::string_view type, bool nullable) {
  place(key)["type"] = nullable ? Json::array({type, "null"}) : Json(type);
}

void JsonSchema::add_whole(const FieldKey& key, bool nullable, std::int64_t least) {
  Json& field = place(key);
  field["type"] = nullable ? Json::array({"integer", "null"}) : Json("integer");
  field["minimum"] = least;
}

void JsonSchema::add_array(const FieldKey& key, std::string_view type, bool nullable) {
  Json& field = place(key);
  field["type"] = nullable ? Json::array({"array", "null"}) : Json("array");
  field["items"] = {{"type", type == "number" ? Json::array({type, "null"}) : Json(type)}};
}

void JsonSchema::add_any(const FieldKey& key) { static_cast<void>(place(key)); }

void JsonSchema::add_choice(const FieldKey& key, const std::vector<std::string>& names) {
  place(key)["enum"] = names;
}

void JsonSchema::interval(const FieldKey& key, const std::optional<Interval>&) {
  Json& field = place(key);
  field["type"] = {"array", "null"};
  field["items"] = {{"type", {"number", "null"}}};
  field["minItems"] = 2;
  field["maxItems"] = 2;
}

void JsonSchema::begin(const FieldKey& key, bool nullable) {
  Json& field = place(key);
  field.update(object_schema(nullable));
  open_.push_back(&field);
}

void JsonSchema::begin_list(const FieldKey& key) {
  Json& field = place(key);
  field["type"] = "array";
  field["items"] = object_schema(false);
  open_.push_back(&field["items"]);
}

void JsonSchema::end() { open_.pop_back(); }

}  // namespace cachebisect
