#include "cachebisect/format/json_value.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect {
namespace {

/// "~1workers" of "/workers" (RFC 6901).
std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

}  // namespace

void JsonValue::refuse(const std::string& what) const {
  const std::string place = pointer_.empty() ? "the document" : pointer_;
  throw Error(ErrorKind::usage, *origin_ + ": " + printable(place) + ": " + what);
}

JsonValue JsonValue::operator[](std::string_view key) const {
  static const nlohmann::json kMissing;
  if (!is_null() && !value_->is_object()) refuse("must be an object");
  const auto found = value_->find(key);
  const bool missing = is_null() || found == value_->end();
  return {missing ? kMissing : *found, *origin_, pointer_ + "/" + escaped(key)};
}

std::vector<JsonValue> JsonValue::items() const {
  std::vector<JsonValue> all;
  if (is_null()) return all;
  if (!value_->is_array()) refuse("must be an array");
  all.reserve(value_->size());
  for (const nlohmann::json& item : *value_) {
    all.push_back({item, *origin_, pointer_ + "/" + std::to_string(all.size())});
  }
  return all;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  std::vector<std::pair<std::string, JsonValue>> all;
  if (is_null()) return all;
  if (!value_->is_object()) refuse("must be an object");
  for (const auto& [key, value] : value_->items()) {
    all.emplace_back(key, JsonValue(value, *origin_, pointer_ + "/" + escaped(key)));
  }
  return all;
}

bool JsonValue::is_null() const { return value_->is_null(); }

double JsonValue::number() const {
  if (!value_->is_number()) refuse("must be a number");
  return value_->get<double>();
}

double JsonValue::number_or(double otherwise) const { return is_null() ? otherwise : number(); }

double JsonValue::amount() const {
  const double value = number();
  if (!(value >= 0)) refuse("must be 0 or more");
  return value;
}

std::optional<double> JsonValue::optional_number() const {
  return is_null() ? std::nullopt : std::optional(number());
}

std::optional<bool> JsonValue::optional_flag() const {
  if (is_null()) return std::nullopt;
  if (!value_->is_boolean()) refuse("must be true or false");
  return value_->get<bool>();
}

bool JsonValue::flag_or(bool otherwise) const { return optional_flag().value_or(otherwise); }

std::int64_t JsonValue::whole(std::int64_t low, std::int64_t high) const {
  const bool fits =
      value_->is_number_integer() &&
      (!value_->is_number_unsigned() || std::in_range<std::int64_t>(value_->get<std::uint64_t>()));
  if (!fits || value_->get<std::int64_t>() < low || value_->get<std::int64_t>() > high) {
    refuse("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value_->get<std::int64_t>();
}

int JsonValue::whole_or(int otherwise, int low, int high) const {
  return is_null() ? otherwise : static_cast<int>(whole(low, high));
}

std::optional<int> JsonValue::optional_whole() const {
  if (is_null()) return std::nullopt;
  return static_cast<int>(whole(0, kMaxInt));
}

std::optional<std::uint64_t> JsonValue::optional_count() const {
  if (is_null()) return std::nullopt;
  if (!value_->is_number_unsigned()) refuse("must be a whole number, 0 or more");
  return value_->get<std::uint64_t>();
}

std::uint64_t JsonValue::count_or(std::uint64_t otherwise) const {
  return optional_count().value_or(otherwise);
}

std::string JsonValue::text() const {
  if (!value_->is_string()) refuse("must be a string");
  return value_->get<std::string>();
}

std::vector<std::string> JsonValue::texts() const {
  std::vector<std::string> all;
  for (const JsonValue& item : items()) all.push_back(item.text());
  return all;
}

std::optional<Interval> JsonValue::interval() const {
  if (is_null()) return std::nullopt;
  const std::vector<JsonValue> ends = items();
  if (ends.size() != 2) refuse("must be an interval: two numbers");
  const auto low = ends[0].optional_number();
  const auto high = ends[1].optional_number();
  if (!low || !high) return std::nullopt;
  if (*low > *high) refuse("must be an interval: its first number is the smaller one");
  return Interval{*low, *high};
}

std::string JsonValue::json() const { return value_->dump(); }

}  // namespace cachebisect
