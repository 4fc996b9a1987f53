#include "cachebisect/remote/message_reader.hpp"

#include <nlohmann/json.hpp>

namespace cachebisect {

bool MessageReader::is_there(const FieldKey& key) const {
  return key.sent != Sent::never && now().has(name_of(key).c_str());
}

bool MessageReader::is_read(const FieldKey& key) const {
  if (is_there(key)) return true;
  const bool usual = key.sent == Sent::usual && key.presence != Presence::added;
  if (usual || key.sent == Sent::required) now().refuse(name_of(key), "there");
  return false;
}

int MessageReader::whole_at(const FieldKey& key, int least) const {
  const int value = now().small_count(name_of(key).c_str());
  if (value < least) now().refuse(name_of(key), "an integer of at least " + std::to_string(least));
  return value;
}

std::vector<Fields> MessageReader::items(const FieldKey& key) const {
  return now().objects_or_empty(name_of(key).c_str());
}

void MessageReader::number(const FieldKey& key, double& value) {
  if (is_read(key)) value = now().number(name_of(key).c_str());
}

void MessageReader::number(const FieldKey& key, std::optional<double>& value) {
  value.reset();
  if (is_there(key)) value = now().number(name_of(key).c_str());
}

void MessageReader::amount(const FieldKey& key, double& value) {
  if (is_read(key)) value = now().amount(name_of(key).c_str());
}

void MessageReader::count(const FieldKey& key, std::uint64_t& value) {
  if (is_read(key)) value = now().count(name_of(key).c_str());
}

void MessageReader::count(const FieldKey& key, std::optional<std::uint64_t>& value) {
  value.reset();
  if (is_there(key)) value = now().count(name_of(key).c_str());
}

void MessageReader::flag(const FieldKey& key, bool& value) {
  if (is_read(key)) value = now().flag(name_of(key).c_str());
}

void MessageReader::flag(const FieldKey& key, std::optional<bool>& value) {
  value.reset();
  if (is_there(key)) value = now().flag(name_of(key).c_str());
}

void MessageReader::text(const FieldKey& key, std::string& value) {
  if (is_read(key)) value = now().text(name_of(key).c_str());
}

void MessageReader::optional_text(const FieldKey& key, std::string& value) {
  value = is_there(key) ? now().text(name_of(key).c_str()) : "";
}

void MessageReader::texts(const FieldKey& key, std::vector<std::string>& values) {
  if (is_read(key)) values = now().texts_or_empty(name_of(key).c_str());
}

void MessageReader::numbers(const FieldKey& key, std::vector<double>& values) {
  if (is_read(key)) values = now().amounts_or_empty(name_of(key).c_str());
}

void MessageReader::wholes(const FieldKey& key, std::vector<int>& values) {
  if (is_read(key)) values = now().small_counts(name_of(key).c_str());
}

void MessageReader::texts_by_name(const FieldKey& key, std::map<std::string, std::string>& values) {
  if (is_read(key)) values = now().texts_by_name(name_of(key).c_str());
}

void MessageReader::json(const FieldKey& key, std::string& text) {
  text = is_there(key) ? now().value(name_of(key).c_str()).dump() : "";
}

}  // namespace cachebisect
