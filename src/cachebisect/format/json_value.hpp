// A value of a JSON document that is read, and its place for messages.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect {

/// What is missing counts as null. Every reader throws Error(usage) "origin: /json/pointer: must be
/// ..." for a value of another type or range. Keeps references to the document and the origin.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, const std::string& origin)
      : JsonValue(value, origin, "") {}

  /// A member of an object, or of nothing.
  [[nodiscard]] JsonValue operator[](std::string_view key) const;
  /// The members of an array; none of null.
  [[nodiscard]] std::vector<JsonValue> items() const;
  [[nodiscard]] bool is_null() const;

  [[nodiscard]] double number() const;
  [[nodiscard]] double number_or(double otherwise) const;
  /// 0 or more.
  [[nodiscard]] double amount() const;
  [[nodiscard]] double amount_or_zero() const { return is_null() ? 0 : amount(); }
  [[nodiscard]] std::optional<double> optional_number() const;
  [[nodiscard]] std::optional<bool> optional_flag() const;
  [[nodiscard]] bool flag_or(bool otherwise) const;
  /// A whole number of the range.
  [[nodiscard]] std::int64_t whole(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] int whole_or(int otherwise, int low = 0, int high = kMaxInt) const;
  [[nodiscard]] std::optional<int> optional_whole() const;
  [[nodiscard]] std::uint64_t count_or(std::uint64_t otherwise) const;
  [[nodiscard]] std::optional<std::uint64_t> optional_count() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string text_or_empty() const { return is_null() ? std::string() : text(); }
  [[nodiscard]] std::vector<std::string> texts() const;
  /// [low, high]; empty for null and if an end is null.
  [[nodiscard]] std::optional<Interval> interval() const;
  /// The value as JSON text.
  [[nodiscard]] std::string json() const;
  /// The members of an object, with their names; none of null.
  [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const;

  /// The one of `kinds` whose to_string() this is.
  template <class Kinds>
  [[nodiscard]] auto one_of(const Kinds& kinds) const {
    const std::string name = text();
    std::string known;
    for (const auto kind : kinds) {
      if (name == to_string(kind)) return kind;
      known += (known.empty() ? "" : ", ") + std::string(to_string(kind));
    }
    refuse("must be one of " + known);
  }

  /// `what` is "must be a number".
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  static constexpr int kMaxInt = std::numeric_limits<int>::max();
  JsonValue(const nlohmann::json& value, const std::string& origin, std::string pointer)
      : value_(&value), origin_(&origin), pointer_(std::move(pointer)) {}

  const nlohmann::json* value_;
  const std::string* origin_;
  std::string pointer_;
};

}  // namespace cachebisect
