// Describes the fields of structs as a JSON Schema (base/fields.hpp).
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
#include "cachebisect/base/fields.hpp"
#include "cachebisect/format/json_values.hpp"

namespace cachebisect {

/// Draft 7. What JsonWriter writes as null where it is not known may be null. Not thread safe.
class JsonSchema {
 public:
  /// messages: of adapters, by FieldKey::sent; what they may lack may also be null.
  enum class Of { documents, messages };

  static constexpr bool kReads = false;
  using Json = json_values::Json;

  explicit JsonSchema(Of what = Of::documents);
  JsonSchema(const JsonSchema&) = delete;
  JsonSchema& operator=(const JsonSchema&) = delete;
  ~JsonSchema();

  /// A document has null where it is not finite.
  void number(const FieldKey& key, double) { add(key, "number", what_ == Of::documents); }
  void number(const FieldKey& key, const std::optional<double>&) { add(key, "number", true); }
  void amount(const FieldKey& key, double) { add(key, "number", false); }
  void amount(const FieldKey& key, const std::optional<double>&) { add(key, "number", true); }
  void whole(const FieldKey& key, std::int64_t, std::int64_t least = 0) {
    add_whole(key, false, least);
  }
  template <class Int>
  void whole(const FieldKey& key, const std::optional<Int>&, std::int64_t least = 0) {
    add_whole(key, true, least);
  }
  void count(const FieldKey& key, std::uint64_t) { add_whole(key, false, 0); }
  void count(const FieldKey& key, const std::optional<std::uint64_t>&) { add_whole(key, true, 0); }
  void flag(const FieldKey& key, bool) { add(key, "boolean", false); }
  void flag(const FieldKey& key, const std::optional<bool>&) { add(key, "boolean", true); }
  void text(const FieldKey& key, std::string_view) { add(key, "string", false); }
  void optional_text(const FieldKey& key, std::string_view) { add(key, "string", true); }
  void texts(const FieldKey& key, const std::vector<std::string>&) { add_array(key, "string"); }
  void optional_texts(const FieldKey& key, const std::optional<std::vector<std::string>>&) {
    add_array(key, "string", true);
  }
  void members(const FieldKey& key, const std::map<std::string, std::string>&) {
    add(key, "object", false);
  }
  void texts_by_name(const FieldKey& key, const std::map<std::string, std::string>&) {
    add(key, "object", false);
  }
  void numbers(const FieldKey& key, const std::vector<double>&) { add_array(key, "number"); }
  void wholes(const FieldKey& key, const std::vector<int>&) { add_array(key, "integer"); }
  /// Any JSON.
  void json(const FieldKey& key, const std::string&) { add_any(key); }
  void interval(const FieldKey& key, const std::optional<Interval>&);
  template <class Kind, std::size_t N>
  void choice(const FieldKey& key, Kind, const std::array<Kind, N>& kinds) {
    std::vector<std::string> names;
    names.reserve(N);
    for (const Kind kind : kinds) names.emplace_back(to_string(kind));
    add_choice(key, names);
  }

  template <class Part>
  void part(const FieldKey& key, const Part& value) {
    group(key, [&] { fields(*this, value); });
  }
  template <class Part>
  void part(const FieldKey& key, const std::optional<Part>&) {
    const Part part{};
    group_unless(key, true, [&] { fields(*this, part); });
  }
  template <class Part>
  void list(const FieldKey& key, const std::vector<Part>&) {
    const Part part{};
    begin_list(key);
    fields(*this, part);
    end();
  }
  template <class Visit>
  void group(const FieldKey& key, const Visit& visit) {
    begin(key, false);
    visit();
    end();
  }
  template <class Visit>
  void group_unless(const FieldKey& key, bool, const Visit& visit) {
    begin(key, true);
    visit();
    end();
  }

  [[nodiscard]] Json& json() noexcept { return *document_; }

 private:
  [[nodiscard]] bool is_required(const FieldKey& key, bool nullable) const noexcept;
  Json& place(const FieldKey& key, bool nullable);
  [[nodiscard]] Json typed(const FieldKey& key, std::string_view type, bool nullable) const;
  void add(const FieldKey& key, std::string_view type, bool nullable);
  void add_whole(const FieldKey& key, bool nullable, std::int64_t least);
  void add_array(const FieldKey& key, std::string_view type, bool nullable = false);
  void add_any(const FieldKey& key);
  void add_choice(const FieldKey& key, const std::vector<std::string>& names);
  void begin(const FieldKey& key, bool nullable);
  void begin_list(const FieldKey& key);
  void end();

  Of what_;
  std::unique_ptr<Json> document_;
  std::unique_ptr<Json> left_out_;  ///< takes what is no field of messages
  std::vector<Json*> open_;
};

}  // namespace cachebisect
