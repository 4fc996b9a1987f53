#include "cachebisect/format/json_schema.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace cachebisect {
namespace {

using Json = JsonSchema::Json;

Json object_schema(Json type) {
  return {{"type", std::move(type)}, {"properties", Json::object()}, {"required", Json::array()}};
}

}  // namespace

JsonSchema::JsonSchema(Of what)
    : what_(what),
      document_(std::make_unique<Json>(object_schema("object"))),
      left_out_(std::make_unique<Json>()),
      open_{document_.get()} {}

JsonSchema::~JsonSchema() = default;

bool JsonSchema::is_required(const FieldKey& key, bool nullable) const noexcept {
  if (what_ == Of::documents) return key.presence != Presence::added;
  if (key.sent != Sent::usual) return key.sent == Sent::required;
  return key.presence != Presence::added && !nullable;
}

Json& JsonSchema::place(const FieldKey& key, bool nullable) {
  const bool left_out = what_ == Of::messages && key.sent == Sent::never;
  Json& parent = left_out ? *left_out_ : *open_.back();
  if (is_required(key, nullable)) parent["required"].push_back(key.name);
  Json& field = parent["properties"][std::string(key.name)];
  field = Json::object();
  if (!key.doc.empty()) field["description"] = key.doc;
  return field;
}

Json JsonSchema::typed(const FieldKey& key, std::string_view type, bool nullable) const {
  const bool lacks = what_ == Of::messages && !is_required(key, nullable);
  return nullable || lacks ? Json::array({type, "null"}) : Json(type);
}

void JsonSchema::add(const FieldKey& key, std::string_view type, bool nullable) {
  place(key, nullable)["type"] = typed(key, type, nullable);
}

void JsonSchema::add_whole(const FieldKey& key, bool nullable, std::int64_t least) {
  Json& field = place(key, nullable);
  field["type"] = typed(key, "integer", nullable);
  field["minimum"] = least;
}

void JsonSchema::add_array(const FieldKey& key, std::string_view type, bool nullable) {
  Json& field = place(key, nullable);
  field["type"] = typed(key, "array", nullable);
  const bool unknown = type == "number" && what_ == Of::documents;
  field["items"] = {{"type", unknown ? Json::array({type, "null"}) : Json(type)}};
}

void JsonSchema::add_any(const FieldKey& key) { static_cast<void>(place(key, true)); }

void JsonSchema::add_choice(const FieldKey& key, const std::vector<std::string>& names) {
  place(key, false)["enum"] = names;
}

void JsonSchema::interval(const FieldKey& key, const std::optional<Interval>&) {
  Json& field = place(key, true);
  field["type"] = {"array", "null"};
  field["items"] = {{"type", {"number", "null"}}};
  field["minItems"] = 2;
  field["maxItems"] = 2;
}

void JsonSchema::begin(const FieldKey& key, bool nullable) {
  Json& field = place(key, nullable);
  field.update(object_schema(typed(key, "object", nullable)));
  open_.push_back(&field);
}

void JsonSchema::begin_list(const FieldKey& key) {
  Json& field = place(key, false);
  field["type"] = typed(key, "array", false);
  field["items"] = object_schema("object");
  open_.push_back(&field["items"]);
}

void JsonSchema::end() { open_.pop_back(); }

}  // namespace cachebisect
