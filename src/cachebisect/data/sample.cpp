#include "cachebisect/data/sample.hpp"

#include <algorithm>

namespace cachebisect {

std::string SampleOrigin::to_string() const {
  if (folder.empty()) return std::string(name);
  return std::string(folder) + "/" + std::string(name);
}

const FieldSpec* find_field(const SampleSpec& spec, std::string_view name) noexcept {
  const auto at =
      std::find_if(spec.begin(), spec.end(), [&](const FieldSpec& f) { return f.name == name; });
  return at == spec.end() ? nullptr : &*at;
}

const Field* Sample::find(std::string_view name) const noexcept {
  for (const NamedField& named : fields_) {
    if (named.name == name) return &named.field;
  }
  return nullptr;
}

Field& Sample::field(std::string_view name) {
  for (NamedField& named : fields_) {
    if (named.name == name) return named.field;
  }
  return fields_.emplace_back(NamedField{std::string(name), Field{}}).field;
}

const Field& Sample::field(std::string_view name) const {
  if (const Field* found = find(name)) return *found;
  throw Error(ErrorKind::internal, "the sample has no field '" + std::string(name) + "'");
}

void Sample::remove(std::string_view name) noexcept {
  std::erase_if(fields_, [&](const NamedField& named) { return named.name == name; });
}

void Sample::begin_from(const Sample& input) {
  index_ = input.index_;
  origin_ = input.origin_;
  for (std::size_t i = 0; i < input.fields_.size(); ++i) {
    const NamedField& from = input.fields_[i];
    Field& to =
        i < fields_.size() && fields_[i].name == from.name ? fields_[i].field : field(from.name);
    to.share(from.field);
  }
}

void Sample::copy_from(const Sample& other) {
  index_ = other.index_;
  origin_ = other.origin_;
  for (const NamedField& from : other.fields_) field(from.name).copy_from(from.field);
}

std::size_t Sample::byte_size() const noexcept {
  std::size_t bytes = 0;
  for (const NamedField& named : fields_) bytes += named.field.byte_size();
  return bytes;
}

}  // namespace cachebisect
