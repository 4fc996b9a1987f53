// NetCDF-4: a variable is a data set of HDF5, and says what its values mean in attributes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stages/datasets/netcdf_array.hpp"
#include "stages/modules/hdf5_dataset.hpp"
#include "stages/modules/hdf5_handles.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {
namespace {

constexpr hssize_t kMostAttributeNumbers = 16;

/// In memory.
hid_t native_type(StoredType type) {
  switch (type) {
    case StoredType::int8:
      return H5T_NATIVE_INT8;
    case StoredType::uint8:
      return H5T_NATIVE_UINT8;
    case StoredType::int16:
      return H5T_NATIVE_INT16;
    case StoredType::uint16:
      return H5T_NATIVE_UINT16;
    case StoredType::int32:
      return H5T_NATIVE_INT32;
    case StoredType::uint32:
      return H5T_NATIVE_UINT32;
    case StoredType::int64:
      return H5T_NATIVE_INT64;
    case StoredType::uint64:
      return H5T_NATIVE_UINT64;
    case StoredType::float32:
      return H5T_NATIVE_FLOAT;
    case StoredType::float64:
      break;
  }
  return H5T_NATIVE_DOUBLE;
}

std::optional<StoredType> stored_type(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT) {
    if (bytes == 4) return StoredType::float32;
    return bytes == 8 ? std::optional(StoredType::float64) : std::nullopt;
  }
  if (H5Tget_class(type) != H5T_INTEGER) return std::nullopt;
  const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  switch (bytes) {
    case 1:
      return is_signed ? StoredType::int8 : StoredType::uint8;
    case 2:
      return is_signed ? StoredType::int16 : StoredType::uint16;
    case 4:
      return is_signed ? StoredType::int32 : StoredType::uint32;
    case 8:
      return is_signed ? StoredType::int64 : StoredType::uint64;
    default:
      return std::nullopt;
  }
}

/// An attribute of a variable; not open if there is none of this name and class.
class Attribute {
 public:
  Attribute(hid_t variable, const char* name, H5T_class_t first, H5T_class_t second) {
    if (H5Aexists(variable, name) <= 0) return;
    Hdf5Handle found(H5Aopen(variable, name, H5P_DEFAULT), H5Aclose);
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

std::vector<double> numbers_of(hid_t variable, const char* name) {
  return Attribute(variable, name, H5T_INTEGER, H5T_FLOAT).numbers();
}

std::optional<double> number_of(hid_t variable, const char* name) {
  const std::vector<double> numbers = numbers_of(variable, name);
  return numbers.empty() ? std::nullopt : std::optional(numbers.front());
}

std::string text_of(hid_t variable, const char* name) {
  return Attribute(variable, name, H5T_STRING, H5T_STRING).text();
}

/// What libnetcdf writes where nothing was written.
std::optional<double> fill_of(hid_t settings) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  double value = 0;
  const bool known = H5Pfill_value_defined(settings, &defined) >= 0 &&
                     defined == H5D_FILL_VALUE_USER_DEFINED &&
                     H5Pget_fill_value(settings, H5T_NATIVE_DOUBLE, &value) >= 0;
  return known ? std::optional(value) : std::nullopt;
}

class LibHdf5Variable final : public NetcdfArray {
 public:
  LibHdf5Variable(const std::string& path, const std::string& name, std::size_t cache_bytes)
      : data_(path, name, "variable") {
    const InputFile regular(path);  // names what is no file, and never waits for a FIFO
    const Hdf5Section section;
    try {
      data_.open(cache_bytes);
      check_type();
      data_.measure(stored_bytes(facts_.type));
      facts_.shape = data_.shape();
      read_attributes();
    } catch (...) {
      data_.close();
      throw;
    }
  }
  ~LibHdf5Variable() override {
    const Hdf5Section section;
    data_.close();
  }

  double read(const ArrayBox& box, std::byte* out) const override {
    const Hdf5Section section;
    const double began = monotonic_seconds();
    data_.read(box, native_type(facts_.type), out);
    return monotonic_seconds() - began;
  }

  [[nodiscard]] std::vector<FileRange> files(const ArrayBox& box) const override {
    return data_.files(box);
  }

 private:
  void check_type() {
    const Hdf5Handle stored(H5Dget_type(data_.id()), H5Tclose);
    const std::optional<StoredType> type = stored_type(stored.id());
    if (!type) data_.refuse("has elements that are no numbers of NetCDF");
    facts_.type = *type;
  }

  void read_attributes() {
    const hid_t id = data_.id();
    if (text_of(id, "NAME").starts_with("This is a netCDF dimension but not a netCDF variable"))
      data_.refuse("is a dimension, which has no values");
    PackingAttributes& to = facts_.attributes;
    to.scale = number_of(id, "scale_factor");
    to.offset = number_of(id, "add_offset");
    to.fill = number_of(id, "_FillValue");
    to.missing = numbers_of(id, "missing_value");
    to.default_fill = fill_of(data_.settings());
    to.is_unsigned = text_of(id, "_Unsigned") == "true";
  }

  Hdf5Dataset data_;
};

}  // namespace
}  // namespace cachebisect::stages

extern "C" CACHEBISECT_INTERNAL_API cachebisect::stages::NetcdfArray*
cachebisect_hdf5_open_variable(const std::string& file, const std::string& name,
                               std::size_t cache_bytes) {
  return std::make_unique<cachebisect::stages::LibHdf5Variable>(file, name, cache_bytes).release();
}
