// One training example on its way through the host stages: an index and named fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/data/field.hpp"

namespace cachebisect {

/// The number of a sample in its source, from 0. Converts to an integer, so that it can index a
/// list.
struct SampleIndex {
  std::uint64_t value = 0;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator std::uint64_t() const noexcept { return value; }
};

/// The fields that samples have at one boundary, in order.
using SampleSpec = std::vector<FieldSpec>;

/// The spec of the field `name`, or null.
CACHEBISECT_API const FieldSpec* find_field(const SampleSpec& spec, std::string_view name) noexcept;

/// Where a sample comes from, for messages: a file's path. The memory belongs to the source.
struct SampleOrigin {
  std::string_view folder{};  ///< empty: `name` is the whole path
  std::string_view name{};

  [[nodiscard]] bool empty() const noexcept { return name.empty(); }
  [[nodiscard]] CACHEBISECT_API std::string to_string() const;
};

class CACHEBISECT_API Sample {
 public:
  struct NamedField {
    std::string name;
    Field field;
  };

  [[nodiscard]] SampleIndex index() const noexcept { return index_; }
  void set_index(SampleIndex index) noexcept { index_ = index; }
  [[nodiscard]] const SampleOrigin& origin() const noexcept { return origin_; }
  void set_origin(const SampleOrigin& origin) noexcept { origin_ = origin; }
  void set_origin(std::string_view path) noexcept { origin_ = {.folder = {}, .name = path}; }

  /// The field of this name; made if there is none yet.
  Field& field(std::string_view name);
  /// Throws Error(internal) if there is no such field.
  [[nodiscard]] const Field& field(std::string_view name) const;
  [[nodiscard]] const Field* find(std::string_view name) const noexcept;
  [[nodiscard]] std::vector<NamedField>& fields() noexcept { return fields_; }
  [[nodiscard]] const std::vector<NamedField>& fields() const noexcept { return fields_; }

  /// Leaves the field out, if there is one.
  void remove(std::string_view name) noexcept;
  /// Begins a stage's output: index and origin of `input`, and views of all its fields.
  void begin_from(const Sample& input);
  /// Own dense copy of everything in `other` except the origin, which stays a view.
  void copy_from(const Sample& other);
  /// Bytes of all fields together.
  [[nodiscard]] std::size_t byte_size() const noexcept;

 private:
  SampleIndex index_;
  SampleOrigin origin_;
  std::vector<NamedField> fields_;
};

}  // namespace cachebisect
