// Reads the fields of a message, and names the one that is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace cachebisect {

/// The fields of one JSON object. A field that is null counts as missing. Every reader throws
/// Error(internal) that names message and field if a required field is missing or a field has
/// another type or range. Keeps a reference to the object.
class Fields {
 public:
  /// `place` is what errors begin with: "the answer to 'run'".
  Fields(const nlohmann::json& object, std::string place);

  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] std::string text(const char* key) const;
  [[nodiscard]] std::string text_or(const char* key, const std::string& otherwise) const;
  [[nodiscard]] bool flag(const char* key) const;
  [[nodiscard]] bool flag_or(const char* key, bool otherwise) const;
  [[nodiscard]] double number(const char* key) const;
  [[nodiscard]] std::optional<double> optional_number(const char* key) const;
  /// 0 or more.
  [[nodiscard]] double amount(const char* key) const;
  [[nodiscard]] std::uint64_t count(const char* key) const;
  [[nodiscard]] std::uint64_t count_or(const char* key, std::uint64_t otherwise) const;
  /// A count that an int holds.
  [[nodiscard]] int small_count(const char* key) const;
  [[nodiscard]] int small_count_or(const char* key, int otherwise) const;
  [[nodiscard]] std::vector<double> amounts_or_empty(const char* key) const;
  [[nodiscard]] std::vector<int> small_counts(const char* key) const;
  [[nodiscard]] std::vector<std::string> texts_or_empty(const char* key) const;
  /// The members of an object of strings; none if there is no such field.
  [[nodiscard]] std::map<std::string, std::string> texts_by_name(const char* key) const;
  /// The fields of an object in this one.
  [[nodiscard]] Fields object(const char* key) const;
  /// The fields of each object in an array; empty if there is no such field.
  [[nodiscard]] std::vector<Fields> objects_or_empty(const char* key) const;
  /// The value itself; the field must exist.
  [[nodiscard]] const nlohmann::json& value(const char* key) const;
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;

 private:
  /// Null if it is missing or null.
  [[nodiscard]] const nlohmann::json* find(const char* key) const;
  template <class Item, class Read>
  [[nodiscard]] std::vector<Item> items(const char* key, const Read& read) const;

  const nlohmann::json* object_;
  std::string place_;
};

}  // namespace cachebisect
