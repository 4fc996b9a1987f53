#include "stages/datasets/netcdf_header.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "stages/datasets/netcdf_header_bytes.hpp"
#include "stages/datasets/netcdf_types.hpp"

#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMostNetcdfBytes = std::uint64_t{1} << 62U;
constexpr std::uint64_t kMostDimensions = 65'536;
constexpr std::uint64_t kMostAttributeValues = 16;
constexpr std::uint32_t kDimensionList = 10;
constexpr std::uint32_t kVariableList = 11;
constexpr std::uint32_t kAttributeList = 12;

/// Empty if it is over kMostNetcdfBytes.
std::optional<std::uint64_t> checked_product(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > kMostNetcdfBytes / b) return std::nullopt;
  return a * b;
}

/// A variable as its entry describes it.
struct HeaderEntry {
  std::vector<std::uint64_t> dims;  ///< without the unlimited one
  bool has_records = false;
  std::uint64_t bytes = 0;  ///< of one record, or of all
  std::uint64_t begin = 0;
  ClassicType type{};
  PackingAttributes attributes;
};

class HeaderReader {
 public:
  HeaderReader(const InputFile& file, const std::string& name)
      : file_(file), name_(name), bytes_(file) {}

  ClassicVariable run() {
    read_format();
    std::uint64_t records = bytes_.count();
    const bool counted = records != unknown_count();
    read_dimensions();
    for (std::uint64_t left = list(kAttributeList); left > 0; --left) skip_attribute();
    read_variables();
    if (!found_) refuse_unknown();
    if (record_variables_ == 1 && found_->has_records) record_bytes_ = found_->bytes;
    if (found_->has_records && !counted) records = records_in_file();
    return check(records);
  }

 private:
  void read_format() {
    const std::uint32_t magic = bytes_.word();
    switch (magic & 0xFFU) {
      case 1:
        return;
      case 2:
        return bytes_.set_widths(4, 8);
      case 5:
        return bytes_.set_widths(8, 8);
      default:
        bytes_.refuse("is of an unknown version, " + std::to_string(magic & 0xFFU));
    }
  }

  [[nodiscard]] std::uint64_t unknown_count() const noexcept {
    return bytes_.count_bytes() == 4 ? std::numeric_limits<std::uint32_t>::max()
                                     : std::numeric_limits<std::uint64_t>::max();
  }

  /// The entries of a list with this tag.
  std::uint64_t list(std::uint32_t tag) {
    const std::uint32_t found = bytes_.word();
    const std::uint64_t count = bytes_.count_of(8);
    if (found != tag && (found != 0 || count != 0))
      bytes_.refuse("has no list of tag " + std::to_string(tag));
    return count;
  }

  void read_dimensions() {
    const std::uint64_t count = list(kDimensionList);
    if (count > kMostDimensions) bytes_.refuse("claims " + std::to_string(count) + " dimensions");
    for (std::uint64_t i = 0; i < count; ++i) {
      bytes_.name();
      dimensions_.push_back(bytes_.count());
    }
  }

  /// Values of an attribute that follows: how many, of which type.
  std::pair<std::uint64_t, ClassicType> attribute_values() {
    const auto type = classic_type(bytes_.word());
    if (!type) bytes_.refuse("has an attribute of an unknown type");
    return {bytes_.count_of(type->bytes), *type};
  }

  void skip_attribute() {
    bytes_.name();
    const auto [count, type] = attribute_values();
    bytes_.skip(NetcdfHeaderBytes::padded(count * type.bytes));
  }

  void read_attribute(PackingAttributes& to) {
    const std::string name = bytes_.name();
    const auto [count, type] = attribute_values();
    std::uint64_t left = NetcdfHeaderBytes::padded(count * type.bytes);
    std::vector<double> numbers;
    if (type.stored) {
      for (std::uint64_t i = 0; i < std::min(count, kMostAttributeValues); ++i, left -= type.bytes)
        numbers.push_back(classic_number(*type.stored, bytes_.number(type.bytes)));
    } else if (name == "_Unsigned" && count == 4) {
      to.is_unsigned = (bytes_.word() | 0x20202020U) == 0x74727565U;  // "true"
      left -= 4;
    }
    bytes_.skip(left);
    if (numbers.empty()) return;
    if (name == "scale_factor") to.scale = numbers[0];
    if (name == "add_offset") to.offset = numbers[0];
    if (name == "_FillValue") to.fill = numbers[0];
    if (name == "missing_value") to.missing = numbers;
  }

  void read_variables() {
    for (std::uint64_t left = list(kVariableList); left > 0; --left) {
      const std::string name = bytes_.name();
      const bool wanted = name == name_ && !found_;
      HeaderEntry entry = read_variable(wanted);
      if (entry.has_records) {
        ++record_variables_;
        record_bytes_ += NetcdfHeaderBytes::padded(entry.bytes);
        if (record_bytes_ > kMostNetcdfBytes) bytes_.refuse("claims records that fit no file");
      }
      if (wanted) found_ = std::move(entry);
      if (names_.size() < 200) names_ += (names_.empty() ? "" : ", ") + quote(name);
    }
  }

  HeaderEntry read_variable(bool wanted) {
    HeaderEntry entry;
    std::uint64_t elements = 1;
    const std::uint64_t rank = bytes_.count_of(bytes_.count_bytes());
    for (std::uint64_t axis = 0; axis < rank; ++axis) {
      const std::uint64_t id = bytes_.count();
      if (id >= dimensions_.size()) bytes_.refuse("names a dimension that it does not have");
      const std::uint64_t length = dimensions_[id];
      if (length == 0) {
        if (axis > 0) bytes_.refuse("has an unlimited dimension that is not the first");
        entry.has_records = true;
        continue;
      }
      const auto more = checked_product(elements, length);
      if (!more) bytes_.refuse("claims more elements than fit 64 bits");
      elements = *more;
      if (entry.dims.size() <= Shape::kMaxRank) entry.dims.push_back(length);
    }
    for (std::uint64_t left = list(kAttributeList); left > 0; --left) {
      if (wanted) {
        read_attribute(entry.attributes);
      } else {
        skip_attribute();
      }
    }
    const auto type = classic_type(bytes_.word());
    if (!type) bytes_.refuse("has a variable of an unknown type");
    entry.type = *type;
    bytes_.count();  // vsize, which follows from the rest and overflows
    entry.begin = bytes_.offset();
    const auto bytes = checked_product(elements, type->bytes);
    if (!bytes) bytes_.refuse("claims more elements than fit 64 bits");
    entry.bytes = *bytes;
    return entry;
  }

  /// How many a file has that was written as a stream.
  [[nodiscard]] std::uint64_t records_in_file() const {
    if (found_->begin > file_.size() || record_bytes_ == 0) return 0;
    const std::uint64_t rest = file_.size() - found_->begin;
    return rest / record_bytes_ + (rest % record_bytes_ >= found_->bytes ? 1 : 0);
  }

  ClassicVariable check(std::uint64_t records) {
    ClassicVariable variable;
    variable.has_records = found_->has_records && record_bytes_ != found_->bytes;
    variable.begin = found_->begin;
    variable.record_bytes = record_bytes_;
    if (!found_->type.stored) refuse("is text, which is no number");
    variable.facts.type = *found_->type.stored;
    variable.facts.attributes = std::move(found_->attributes);
    variable.facts.attributes.default_fill = classic_fill(variable.facts.type);
    if (found_->has_records) found_->dims.insert(found_->dims.begin(), records);
    const std::size_t rank = found_->dims.size();
    if (rank < 1 || rank > Shape::kMaxRank)
      refuse("has " + std::string(rank < 1 ? "0" : "more than 6") + " axes; 1 to 6 can be read");
    std::vector<std::int64_t> shape;
    for (const std::uint64_t length : found_->dims) {
      if (length == 0) refuse("has no elements");
      if (length > kMostNetcdfBytes) refuse("claims more elements than fit 64 bits");
      shape.push_back(static_cast<std::int64_t>(length));
    }
    variable.facts.shape = Shape(shape);
    check_end(records);
    return variable;
  }

  void check_end(std::uint64_t records) const {
    std::uint64_t bytes = found_->bytes;
    if (found_->has_records) {
      const auto before = checked_product(records - 1, record_bytes_);
      if (!before) refuse("claims more elements than fit 64 bits");
      bytes += *before;
    }
    if (found_->begin <= file_.size() && bytes <= file_.size() - found_->begin) return;
    refuse("ends at byte " + std::to_string(found_->begin) + " + " + std::to_string(bytes) +
           ", and the file has " + std::to_string(file_.size()) + ": it is not whole");
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::data, file_.path() + ": the variable " + quote(name_) + " " + what);
  }
  [[noreturn]] void refuse_unknown() const {
    throw Error(ErrorKind::data, file_.path() + ": there is no variable " + quote(name_) +
                                     (names_.empty() ? ", and no other" : "; there are " + names_));
  }

  const InputFile& file_;
  const std::string& name_;
  NetcdfHeaderBytes bytes_;
  std::vector<std::uint64_t> dimensions_;
  std::optional<HeaderEntry> found_;
  std::uint64_t record_variables_ = 0;
  std::uint64_t record_bytes_ = 0;
  std::string names_;
};

}  // namespace

ClassicVariable read_netcdf_header(const InputFile& file, const std::string& name) {
  return HeaderReader(file, name).run();
}

}  // namespace cachebisect::stages
