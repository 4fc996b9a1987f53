// Writes the fields of structs as JSON (base/fields.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/fields.hpp"
#include "cachebisect/format/json_values.hpp"

namespace cachebisect {

/// The members of an object keep the order of the fields. Numbers that are not finite are null, and
/// so is what is not known. Not thread safe.
class CACHEBISECT_INTERNAL_API JsonWriter {
 public:
  static constexpr bool kReads = false;
  using Json = json_values::Json;

  JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;
  ~JsonWriter();

  void number(const FieldKey& key, const std::optional<double>& value);
  /// At least 0.
  void amount(const FieldKey& key, const std::optional<double>& value) { number(key, value); }
  void whole(const FieldKey& key, const std::optional<std::int64_t>& value, std::int64_t least = 0);
  void count(const FieldKey& key, const std::optional<std::uint64_t>& value);
  void flag(const FieldKey& key, const std::optional<bool>& value);
  void text(const FieldKey& key, std::string_view value);
  /// Null if it is empty.
  void optional_text(const FieldKey& key, std::string_view value);
  void texts(const FieldKey& key, const std::vector<std::string>& values);
  void optional_texts(const FieldKey& key, const std::optional<std::vector<std::string>>& values);
  /// Values by name: as JSON if they are JSON text, else as strings.
  void members(const FieldKey& key, const std::map<std::string, std::string>& values);
  void texts_by_name(const FieldKey& key, const std::map<std::string, std::string>& values);
  void numbers(const FieldKey& key, const std::vector<double>& values);
  void wholes(const FieldKey& key, const std::vector<int>& values);
  /// The text is JSON; null if it is empty.
  void json(const FieldKey& key, const std::string& text);
  void interval(const FieldKey& key, const std::optional<Interval>& value);
  template <class Kind, std::size_t N>
  void choice(const FieldKey& key, Kind kind, const std::array<Kind, N>&) {
    text(key, to_string(kind));
  }

  template <class Part>
  void part(const FieldKey& key, const Part& value) {
    begin_object(key);
    fields(*this, value);
    end_object();
  }
  /// Null if it is empty.
  template <class Part>
  void part(const FieldKey& key, const std::optional<Part>& value) {
    group_unless(key, !value, [&] { fields(*this, *value); });
  }
  template <class Part>
  void list(const FieldKey& key, const std::vector<Part>& values) {
    begin_list(key);
    for (const Part& value : values) {
      begin_item();
      fields(*this, value);
      end_object();
    }
    end_list();
  }
  /// The fields that `visit` visits, in an object of their own.
  template <class Visit>
  void group(const FieldKey& key, const Visit& visit) {
    begin_object(key);
    visit();
    end_object();
  }
  /// The same; null if `unknown`.
  template <class Visit>
  void group_unless(const FieldKey& key, bool unknown, const Visit& visit) {
    if (unknown) return optional_text(key, "");
    group(key, visit);
  }

  [[nodiscard]] const Json& json() const noexcept { return *document_; }

 private:
  void begin_object(const FieldKey& key);
  void end_object();
  void begin_list(const FieldKey& key);
  void begin_item();
  void end_list();
  void set(const FieldKey& key, Json value);

  std::unique_ptr<Json> document_;
  std::vector<Json*> open_;
};

}  // namespace cachebisect
