#include "stages/modules/hdf5_attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "stages/modules/hdf5_handles.hpp"

namespace cachebisect::stages {
namespace {

constexpr hssize_t kMostAttributeNumbers = 16;

/// An attribute of a data set; not open if there is none of this name and class.
class Attribute {
 public:
  Attribute(hid_t data_set, const char* name, H5T_class_t first, H5T_class_t second) {
    if (H5Aexists(data_set, name) <= 0) return;
    Hdf5Handle found(H5Aopen(data_set, name, H5P_DEFAULT), H5Aclose);
    type_ = {H5Aget_type(found.id()), H5Tclose};
    const Hdf5Handle space(H5Aget_space(found.id()), H5Sclose);
    count_ = H5Sget_simple_extent_npoints(space.id());
    const H5T_class_t kind = H5Tget_class(type_.id());
    if ((kind == first || kind == second) && count_ > 0 && count_ <= kMostAttributeNumbers)
      attribute_ = std::move(found);
  }

  [[nodiscard]] std::vector<double> numbers() const {
    std::vector<double> values;
    if (!attribute_.is_open()) return values;
    values.resize(static_cast<std::size_t>(count_));
    if (H5Aread(attribute_.id(), H5T_NATIVE_DOUBLE, values.data()) < 0) values.clear();
    return values;
  }

  [[nodiscard]] std::string text() const {
    constexpr std::size_t kLongest = 256;
    if (!attribute_.is_open() || count_ != 1) return {};
    if (H5Tis_variable_str(type_.id()) > 0) {
      char* held = nullptr;
      if (H5Aread(attribute_.id(), type_.id(), &held) < 0 || held == nullptr) return {};
      std::string copy(held);
      H5free_memory(held);
      return copy;
    }
    const std::size_t bytes = H5Tget_size(type_.id());
    if (bytes > kLongest) return {};
    std::string copy(bytes, '\0');
    if (H5Aread(attribute_.id(), type_.id(), copy.data()) < 0) return {};
    copy.resize(std::min(copy.find('\0'), copy.size()));
    return copy;
  }

 private:
  Hdf5Handle attribute_;
  Hdf5Handle type_;
  hssize_t count_ = 0;
};

std::vector<double> numbers_of(hid_t data_set, const char* name) {
  return Attribute(data_set, name, H5T_INTEGER, H5T_FLOAT).numbers();
}

std::optional<double> number_of(hid_t data_set, const char* name) {
  const std::vector<double> numbers = numbers_of(data_set, name);
  return numbers.empty() ? std::nullopt : std::optional(numbers.front());
}

/// What is where nothing was written.
std::optional<double> fill_of(hid_t settings) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  double value = 0;
  const bool known = H5Pfill_value_defined(settings, &defined) >= 0 &&
                     defined == H5D_FILL_VALUE_USER_DEFINED &&
                     H5Pget_fill_value(settings, H5T_NATIVE_DOUBLE, &value) >= 0;
  return known ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string hdf5_text(hid_t data_set, const char* name) {
  return Attribute(data_set, name, H5T_STRING, H5T_STRING).text();
}

PackingAttributes hdf5_packing(hid_t data_set, hid_t settings) {
  PackingAttributes packing;
  packing.scale = number_of(data_set, "scale_factor");
  packing.offset = number_of(data_set, "add_offset");
  packing.fill = number_of(data_set, "_FillValue");
  packing.missing = numbers_of(data_set, "missing_value");
  packing.default_fill = fill_of(settings);
  packing.is_unsigned = hdf5_text(data_set, "_Unsigned") == "true";
  return packing;
}

}  // namespace cachebisect::stages
