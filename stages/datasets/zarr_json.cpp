#include "stages/datasets/zarr_json.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {

void ZarrJson::refuse(const std::string& what) const {
  throw Error(ErrorKind::data, place_ + " " + what);
}

bool ZarrJson::has(const char* key) const {
  if (!value_->is_object()) refuse("is no object");
  const auto found = value_->find(key);
  return found != value_->end() && !found->is_null();
}

ZarrJson ZarrJson::operator[](const char* key) const {
  if (!has(key)) refuse(std::string("has no ") + key);
  const bool whole_document = place_.ends_with(':');
  return {value_->at(key), place_ + (whole_document ? " " : ".") + key};
}

std::vector<ZarrJson> ZarrJson::items() const {
  if (!value_->is_array()) refuse("is no list");
  std::vector<ZarrJson> all;
  for (const nlohmann::json& item : *value_) all.emplace_back(item, place_);
  return all;
}

std::string ZarrJson::text() const {
  if (!value_->is_string()) refuse("is no string");
  return value_->get<std::string>();
}

Shape ZarrJson::extents(std::int64_t least) const {
  const std::vector<ZarrJson> all = items();
  if (all.empty() || all.size() > Shape::kMaxRank) {
    refuse("has " + std::to_string(all.size()) + " dimensions; 1 to " +
           std::to_string(Shape::kMaxRank) + " can be read");
  }
  std::vector<std::int64_t> dims;
  for (const ZarrJson& item : all) {
    const nlohmann::json& value = item.value();
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    if (!fits || value.get<std::int64_t>() < least) {
      refuse("has the extent " + quote(value.dump()) + "; it must be a whole number from " +
             std::to_string(least));
    }
    dims.push_back(value.get<std::int64_t>());
  }
  return Shape(dims);
}

}  // namespace cachebisect::stages
