// Reads the fields of structs from messages of adapters (base/fields.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/remote/fields.hpp"

namespace cachebisect {

/// What is required (FieldKey::sent) is refused where it is missing or null; any other field then
/// keeps its default, and what may be unknown is unknown. Throws as Fields does. Not thread safe.
class MessageReader {
 public:
  static constexpr bool kReads = true;

  explicit MessageReader(const Fields& object) : open_{object} {}

  void number(const FieldKey& key, double& value);
  void number(const FieldKey& key, std::optional<double>& value);
  void amount(const FieldKey& key, double& value);
  /// `least` and more, up to the largest int.
  template <class Int>
  void whole(const FieldKey& key, Int& value, int least = 0) {
    if (is_read(key)) value = static_cast<Int>(whole_at(key, least));
  }
  template <class Int>
  void whole(const FieldKey& key, std::optional<Int>& value, int least = 0) {
    value.reset();
    if (is_there(key)) value = static_cast<Int>(whole_at(key, least));
  }
  void count(const FieldKey& key, std::uint64_t& value);
  void count(const FieldKey& key, std::optional<std::uint64_t>& value);
  void flag(const FieldKey& key, bool& value);
  void flag(const FieldKey& key, std::optional<bool>& value);
  void text(const FieldKey& key, std::string& value);
  /// Empty if it is not known.
  void optional_text(const FieldKey& key, std::string& value);
  void texts(const FieldKey& key, std::vector<std::string>& values);
  /// 0 and more.
  void numbers(const FieldKey& key, std::vector<double>& values);
  /// 0 and more.
  void wholes(const FieldKey& key, std::vector<int>& values);
  void texts_by_name(const FieldKey& key, std::map<std::string, std::string>& values);
  /// As JSON text; empty if it is not known.
  void json(const FieldKey& key, std::string& text);
  template <class Kind, std::size_t N>
  void choice(const FieldKey& key, Kind& kind, const std::array<Kind, N>& kinds) {
    if (!is_read(key)) return;
    const std::string name = now().text(name_of(key).c_str());
    std::string names;
    for (const Kind one : kinds) {
      if (to_string(one) == name) {
        kind = one;
        return;
      }
      names += (names.empty() ? "" : ", ") + std::string(to_string(one));
    }
    now().refuse(name_of(key), "one of " + names);
  }

  template <class Part>
  void part(const FieldKey& key, std::optional<Part>& value) {
    value.reset();
    if (!is_there(key)) return;
    group(key, [&] { fields(*this, value.emplace()); });
  }
  template <class Part>
  void list(const FieldKey& key, std::vector<Part>& values) {
    values.clear();
    if (!is_read(key)) return;
    for (const Fields& item : items(key)) {
      open_.push_back(item);
      fields(*this, values.emplace_back());
      open_.pop_back();
    }
  }
  /// The fields that `visit` visits, in an object of their own.
  template <class Visit>
  void group(const FieldKey& key, const Visit& visit) {
    open_.push_back(now().object(name_of(key).c_str()));
    visit();
    open_.pop_back();
  }
  /// The same, where it is there.
  template <class Visit>
  void group_unless(const FieldKey& key, bool, const Visit& visit) {
    if (is_there(key)) group(key, visit);
  }

 private:
  static std::string name_of(const FieldKey& key) { return std::string(key.name); }
  [[nodiscard]] const Fields& now() const { return open_.back(); }
  [[nodiscard]] bool is_there(const FieldKey& key) const;
  /// The same; refuses what is missing and must not be.
  [[nodiscard]] bool is_read(const FieldKey& key) const;
  [[nodiscard]] int whole_at(const FieldKey& key, int least) const;
  [[nodiscard]] std::vector<Fields> items(const FieldKey& key) const;

  std::vector<Fields> open_;
};

}  // namespace cachebisect
