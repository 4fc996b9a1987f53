#include "cachebisect/remote/fields.hpp"

#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

constexpr const char* kAmount = "a number of at least 0";
constexpr const char* kCount = "an integer of at least 0";

bool is_amount(const json& value) { return value.is_number() && value.get<double>() >= 0; }

/// Python's json writes 4 as 4, other writers as 4.0; only the first is an integer here.
bool is_small_count(const json& value) {
  return value.is_number_unsigned() &&
         value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
}

}  // namespace

Fields::Fields(const json& object, std::string place) : object_(&object), place_(std::move(place)) {
  if (!object.is_object()) {
    throw Error(ErrorKind::internal, place_ + " is not a JSON object (docs/extend/protocol.md)");
  }
}

void Fields::refuse(const std::string& key, const std::string& expected) const {
  throw Error(ErrorKind::internal,
              place_ + ": field '" + key + "' must be " + expected + " (docs/extend/protocol.md)");
}

const json* Fields::find(const char* key) const {
  const auto found = object_->find(key);
  return found != object_->end() && !found->is_null() ? &*found : nullptr;
}

bool Fields::has(const char* key) const { return find(key) != nullptr; }

const json& Fields::value(const char* key) const {
  const json* const found = find(key);
  if (found == nullptr) refuse(key, "there");
  return *found;
}

std::string Fields::text(const char* key) const {
  const json& found = value(key);
  if (!found.is_string()) refuse(key, "a string");
  return found.get<std::string>();
}

std::string Fields::text_or(const char* key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

bool Fields::flag(const char* key) const {
  const json& found = value(key);
  if (!found.is_boolean()) refuse(key, "true or false");
  return found.get<bool>();
}

bool Fields::flag_or(const char* key, bool otherwise) const {
  return has(key) ? flag(key) : otherwise;
}

double Fields::number(const char* key) const {
  const json& found = value(key);
  if (!found.is_number()) refuse(key, "a number");
  return found.get<double>();
}

std::optional<double> Fields::optional_number(const char* key) const {
  return has(key) ? std::optional(number(key)) : std::nullopt;
}

double Fields::amount(const char* key) const {
  const json& found = value(key);
  if (!is_amount(found)) refuse(key, kAmount);
  return found.get<double>();
}

std::uint64_t Fields::count(const char* key) const {
  const json& found = value(key);
  if (!found.is_number_unsigned()) refuse(key, kCount);
  return found.get<std::uint64_t>();
}

std::uint64_t Fields::count_or(const char* key, std::uint64_t otherwise) const {
  return has(key) ? count(key) : otherwise;
}

int Fields::small_count(const char* key) const {
  const json& found = value(key);
  if (!is_small_count(found)) refuse(key, "an integer from 0 to 2147483647");
  return found.get<int>();
}

int Fields::small_count_or(const char* key, int otherwise) const {
  return has(key) ? small_count(key) : otherwise;
}

template <class Item, class Read>
std::vector<Item> Fields::items(const char* key, const Read& read) const {
  const json& found = value(key);
  if (!found.is_array()) refuse(key, "an array");
  std::vector<Item> items;
  items.reserve(found.size());
  for (const json& one : found) {
    items.push_back(read(one, std::string(key) + "[" + std::to_string(items.size()) + "]"));
  }
  return items;
}

std::vector<double> Fields::amounts_or_empty(const char* key) const {
  if (!has(key)) return {};
  return items<double>(key, [&](const json& one, const std::string& place) {
    if (!is_amount(one)) refuse(place, kAmount);
    return one.get<double>();
  });
}

std::vector<int> Fields::small_counts(const char* key) const {
  return items<int>(key, [&](const json& one, const std::string& place) {
    if (!is_small_count(one)) refuse(place, kCount);
    return one.get<int>();
  });
}

std::vector<std::string> Fields::texts_or_empty(const char* key) const {
  if (!has(key)) return {};
  return items<std::string>(key, [&](const json& one, const std::string& place) {
    if (!one.is_string()) refuse(place, "a string");
    return one.get<std::string>();
  });
}

std::map<std::string, std::string> Fields::texts_by_name(const char* key) const {
  if (!has(key)) return {};
  const json& found = value(key);
  if (!found.is_object()) refuse(key, "an object");
  std::map<std::string, std::string> texts;
  for (const auto& [name, text] : found.items()) {
    if (!text.is_string()) refuse(std::string(key) + "." + name, "a string");
    texts[name] = text.get<std::string>();
  }
  return texts;
}

Fields Fields::object(const char* key) const {
  const json& found = value(key);
  if (!found.is_object()) refuse(key, "an object");
  return {found, place_ + ", '" + key + "'"};
}

std::vector<Fields> Fields::objects_or_empty(const char* key) const {
  if (!has(key)) return {};
  return items<Fields>(key, [&](const json& one, const std::string& place) {
    if (!one.is_object()) refuse(place, "an object");
    return Fields(one, place_ + ", '" + place + "'");
  });
}

}  // namespace cachebisect
