#include "cachebisect/format/json_reader.hpp"

#include <utility>

namespace cachebisect {

std::optional<JsonValue> JsonReader::find(const FieldKey& key) const {
  JsonValue value = open_.back()[key.name];
  if (value.is_null() && key.presence != Presence::required) return std::nullopt;
  return value;
}

void JsonReader::number(const FieldKey& key, double& value) {
  if (const auto found = find(key)) value = found->number();
}

void JsonReader::number(const FieldKey& key, std::optional<double>& value) {
  if (const auto found = find(key)) value = found->number();
}

void JsonReader::amount(const FieldKey& key, double& value) {
  if (const auto found = find(key)) value = found->amount();
}

void JsonReader::amount(const FieldKey& key, std::optional<double>& value) {
  if (const auto found = find(key)) value = found->amount();
}

std::optional<std::int64_t> JsonReader::whole_at(const FieldKey& key, std::int64_t least,
                                                 std::int64_t most) const {
  const auto found = find(key);
  return found ? std::optional(found->whole(least, most)) : std::nullopt;
}

void JsonReader::count(const FieldKey& key, std::uint64_t& value) {
  value = open_.back()[key.name].count_or(value);
}

void JsonReader::count(const FieldKey& key, std::optional<std::uint64_t>& value) {
  if (const auto found = open_.back()[key.name].optional_count()) value = found;
}

void JsonReader::flag(const FieldKey& key, bool& value) {
  value = open_.back()[key.name].flag_or(value);
}

void JsonReader::flag(const FieldKey& key, std::optional<bool>& value) {
  if (const auto found = open_.back()[key.name].optional_flag()) value = found;
}

void JsonReader::text(const FieldKey& key, std::string& value) {
  if (const auto found = find(key)) value = found->text();
}

void JsonReader::texts(const FieldKey& key, std::vector<std::string>& values) {
  values = open_.back()[key.name].texts();
}

void JsonReader::optional_texts(const FieldKey& key,
                                std::optional<std::vector<std::string>>& values) {
  if (const auto found = find(key)) values = found->texts();
}

void JsonReader::members(const FieldKey& key, std::map<std::string, std::string>& values) {
  values.clear();
  for (const auto& [name, value] : open_.back()[key.name].members()) values[name] = value.json();
}

void JsonReader::texts_by_name(const FieldKey& key, std::map<std::string, std::string>& values) {
  values.clear();
  for (const auto& [name, value] : open_.back()[key.name].members()) values[name] = value.text();
}

void JsonReader::numbers(const FieldKey& key, std::vector<double>& values) {
  values.clear();
  for (const JsonValue& item : open_.back()[key.name].items()) {
    values.push_back(item.number_or(std::numeric_limits<double>::quiet_NaN()));
  }
}

void JsonReader::wholes(const FieldKey& key, std::vector<int>& values) {
  values.clear();
  for (const JsonValue& item : open_.back()[key.name].items()) {
    values.push_back(static_cast<int>(item.whole(0, std::numeric_limits<int>::max())));
  }
}

void JsonReader::json(const FieldKey& key, std::string& text) {
  if (const auto found = find(key)) text = found->json();
}

void JsonReader::interval(const FieldKey& key, std::optional<Interval>& value) {
  if (const auto found = find(key)) value = found->interval();
}

}  // namespace cachebisect
