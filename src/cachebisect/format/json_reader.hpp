// Reads the fields of structs from JSON (base/fields.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/fields.hpp"
#include "cachebisect/format/json_value.hpp"

namespace cachebisect {

/// What is missing or null keeps its value, unless it is required. Throws Error(usage) that names
/// the place of what is wrong. Not thread safe.
class JsonReader {
 public:
  static constexpr bool kReads = true;

  explicit JsonReader(const JsonValue& document) : open_{document} {}

  void number(const FieldKey& key, double& value);
  void number(const FieldKey& key, std::optional<double>& value);
  void amount(const FieldKey& key, double& value);
  void amount(const FieldKey& key, std::optional<double>& value);
  /// `least` and more.
  template <class Int>
  void whole(const FieldKey& key, Int& value, std::int64_t least = 0) {
    if (const auto read = whole_at(key, least, most<Int>())) {
      value = static_cast<Int>(*read);
    }
  }
  template <class Int>
  void whole(const FieldKey& key, std::optional<Int>& value, std::int64_t least = 0) {
    if (const auto read = whole_at(key, least, most<Int>())) {
      value = static_cast<Int>(*read);
    }
  }
  void count(const FieldKey& key, std::uint64_t& value);
  void count(const FieldKey& key, std::optional<std::uint64_t>& value);
  void flag(const FieldKey& key, bool& value);
  void flag(const FieldKey& key, std::optional<bool>& value);
  void text(const FieldKey& key, std::string& value);
  void optional_text(const FieldKey& key, std::string& value) { text(key, value); }
  void texts(const FieldKey& key, std::vector<std::string>& values);
  void optional_texts(const FieldKey& key, std::optional<std::vector<std::string>>& values);
  /// As JSON text, by name.
  void members(const FieldKey& key, std::map<std::string, std::string>& values);
  void texts_by_name(const FieldKey& key, std::map<std::string, std::string>& values);
  void numbers(const FieldKey& key, std::vector<double>& values);
  void wholes(const FieldKey& key, std::vector<int>& values);
  /// As JSON text.
  void json(const FieldKey& key, std::string& text);
  void interval(const FieldKey& key, std::optional<Interval>& value);
  template <class Kind, std::size_t N>
  void choice(const FieldKey& key, Kind& kind, const std::array<Kind, N>& kinds) {
    if (const auto value = find(key)) kind = value->one_of(kinds);
  }

  template <class Part>
  void part(const FieldKey& key, Part& value) {
    group(key, [&] { fields(*this, value); });
  }
  template <class Part>
  void part(const FieldKey& key, std::optional<Part>& value) {
    if (find(key)) part(key, value.emplace());
  }
  template <class Part>
  void list(const FieldKey& key, std::vector<Part>& values) {
    values.clear();
    for (const JsonValue& item : open_.back()[key.name].items()) {
      open_.push_back(item);
      fields(*this, values.emplace_back());
      open_.pop_back();
    }
  }
  template <class Visit>
  void group(const FieldKey& key, const Visit& visit) {
    open_.push_back(open_.back()[key.name]);
    visit();
    open_.pop_back();
  }
  template <class Visit>
  void group_unless(const FieldKey& key, bool, const Visit& visit) {
    group(key, visit);
  }

  /// The object whose fields are read, for what no list of fields says.
  [[nodiscard]] const JsonValue& object() const { return open_.back(); }

 private:
  template <class Int>
  static constexpr std::int64_t most() {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    constexpr Int kOwn = std::numeric_limits<Int>::max();
    return std::in_range<std::int64_t>(kOwn) ? static_cast<std::int64_t>(kOwn) : kMost;
  }
  /// Empty where the value keeps what it is.
  [[nodiscard]] std::optional<JsonValue> find(const FieldKey& key) const;
  [[nodiscard]] std::optional<std::int64_t> whole_at(const FieldKey& key, std::int64_t least,
                                                     std::int64_t most) const;

  std::vector<JsonValue> open_;
};

}  // namespace cachebisect
