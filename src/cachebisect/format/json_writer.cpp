#include "cachebisect/format/json_writer.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace cachebisect {

JsonWriter::JsonWriter()
    : document_(std::make_unique<Json>(Json::object())), open_{document_.get()} {}

JsonWriter::~JsonWriter() = default;

void JsonWriter::set(const FieldKey& key, Json value) {
  (*open_.back())[std::string(key.name)] = std::move(value);
}

void JsonWriter::number(const FieldKey& key, const std::optional<double>& value) {
  set(key, json_values::number(value));
}

void JsonWriter::whole(const FieldKey& key, const std::optional<std::int64_t>& value,
                       std::int64_t) {
  set(key, value ? Json(*value) : Json(nullptr));
}

void JsonWriter::count(const FieldKey& key, const std::optional<std::uint64_t>& value) {
  set(key, value ? Json(*value) : Json(nullptr));
}

void JsonWriter::flag(const FieldKey& key, const std::optional<bool>& value) {
  set(key, json_values::flag(value));
}

void JsonWriter::text(const FieldKey& key, std::string_view value) { set(key, value); }

void JsonWriter::optional_text(const FieldKey& key, std::string_view value) {
  set(key, json_values::text(std::string(value)));
}

void JsonWriter::texts(const FieldKey& key, const std::vector<std::string>& values) {
  set(key, values);
}

void JsonWriter::optional_texts(const FieldKey& key,
                                const std::optional<std::vector<std::string>>& values) {
  set(key, values ? Json(*values) : Json(nullptr));
}

void JsonWriter::members(const FieldKey& key, const std::map<std::string, std::string>& values) {
  Json all = Json::object();
  for (const auto& [name, value] : values) {
    Json parsed = Json::parse(value, nullptr, false);
    all[name] = parsed.is_discarded() ? Json(value) : std::move(parsed);
  }
  set(key, std::move(all));
}

void JsonWriter::texts_by_name(const FieldKey& key,
                               const std::map<std::string, std::string>& values) {
  set(key, Json(values));
}

void JsonWriter::numbers(const FieldKey& key, const std::vector<double>& values) {
  Json all = Json::array();
  for (const double value : values) all.push_back(json_values::number(value));
  set(key, std::move(all));
}

void JsonWriter::wholes(const FieldKey& key, const std::vector<int>& values) { set(key, values); }

void JsonWriter::json(const FieldKey& key, const std::string& text) {
  set(key, text.empty() ? Json(nullptr) : Json::parse(text));
}

void JsonWriter::interval(const FieldKey& key, const std::optional<Interval>& value) {
  set(key, value ? Json::array({json_values::number(value->low), json_values::number(value->high)})
                 : Json(nullptr));
}

void JsonWriter::begin_object(const FieldKey& key) {
  Json& value = (*open_.back())[std::string(key.name)];
  value = Json::object();
  open_.push_back(&value);
}

void JsonWriter::end_object() { open_.pop_back(); }

void JsonWriter::begin_list(const FieldKey& key) {
  Json& value = (*open_.back())[std::string(key.name)];
  value = Json::array();
  open_.push_back(&value);
}

void JsonWriter::begin_item() {
  Json& list = *open_.back();
  list.push_back(Json::object());
  open_.push_back(&list.back());
}

void JsonWriter::end_list() { open_.pop_back(); }

}  // namespace cachebisect
