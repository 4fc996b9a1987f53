#include "stages/datasets/netcdf_classic.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "stages/datasets/netcdf_header.hpp"

#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {
namespace {

template <class Bits, class Swap>
void swap_each(std::span<std::byte> bytes, const Swap& swap) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Bits)) {
    Bits bits{};
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    bits = swap(bits);
    std::memcpy(bytes.data() + at, &bits, sizeof bits);
  }
}

/// NetCDF is big-endian.
void to_own_order(std::span<std::byte> bytes, std::size_t element_bytes) {
  if constexpr (std::endian::native == std::endian::big) return;
  switch (element_bytes) {
    case 2:
      return swap_each<std::uint16_t>(bytes, [](auto bits) { return __builtin_bswap16(bits); });
    case 4:
      return swap_each<std::uint32_t>(bytes, [](auto bits) { return __builtin_bswap32(bits); });
    case 8:
      return swap_each<std::uint64_t>(bytes, [](auto bits) { return __builtin_bswap64(bits); });
    default:
      return;
  }
}

class ClassicArray final : public StoredArray {
 public:
  ClassicArray(const std::string& path, const std::string& name)
      : file_(path), variable_(read_netcdf_header(file_, name)) {
    facts_ = variable_.facts;
    element_bytes_ = stored_bytes(facts_.type);
    strides_ = dense_strides(facts_.shape);
  }

  double read(const ArrayBox& box, std::byte* out) const override {
    const std::size_t axis = run_axis(box);
    const std::int64_t elements = axis == box.extent.rank() ? 1 : box.extent[axis] * strides_[axis];
    const std::size_t run_bytes = static_cast<std::size_t>(elements) * element_bytes_;
    std::byte* to = out;
    Shape place = box.begin;
    do {
      file_.read(byte_of(place), {to, run_bytes});
      to += run_bytes;
    } while (next(place, box, axis));
    to_own_order({out, to}, element_bytes_);
    return 0;
  }

  [[nodiscard]] std::vector<FileRange> files(const ArrayBox& box) const override {
    std::vector<FileRange> ranges;
    const auto add = [&](const Shape& first, const Shape& last) {
      const std::uint64_t begin = byte_of(first);
      ranges.push_back({file_.path(), begin, byte_of(last) + element_bytes_ - begin});
    };
    Shape first = box.begin;
    Shape last = box.begin;
    for (std::size_t axis = 0; axis < last.rank(); ++axis) last[axis] += box.extent[axis] - 1;
    if (!variable_.has_records) {
      add(first, last);
      return ranges;
    }
    const std::int64_t end = last[0];
    for (; first[0] <= end; ++first[0]) {
      last[0] = first[0];
      add(first, last);
    }
    return ranges;
  }

 private:
  /// Elements of the box at one place before this axis lie together; the rank if none do.
  [[nodiscard]] std::size_t run_axis(const ArrayBox& box) const {
    const std::size_t lowest = variable_.has_records ? 1 : 0;
    std::size_t axis = std::max(facts_.shape.rank() - 1, lowest);
    while (axis > lowest && box.extent[axis] == facts_.shape[axis]) --axis;
    return axis;
  }

  [[nodiscard]] std::uint64_t byte_of(const Shape& place) const {
    std::uint64_t byte = variable_.begin;
    for (std::size_t axis = 0; axis < place.rank(); ++axis) {
      const bool is_record = axis == 0 && variable_.has_records;
      const std::uint64_t stride =
          is_record ? variable_.record_bytes
                    : static_cast<std::uint64_t>(strides_[axis]) * element_bytes_;
      byte += static_cast<std::uint64_t>(place[axis]) * stride;
    }
    return byte;
  }

  /// The next place before `axis`; false after the last.
  static bool next(Shape& place, const ArrayBox& box, std::size_t axis) {
    while (axis-- > 0) {
      if (++place[axis] < box.begin[axis] + box.extent[axis]) return true;
      place[axis] = box.begin[axis];
    }
    return false;
  }

  InputFile file_;
  ClassicVariable variable_;
  std::size_t element_bytes_ = 1;
  Strides strides_{};
};

}  // namespace

std::unique_ptr<StoredArray> open_netcdf_classic(const std::string& file, const std::string& name) {
  return std::make_unique<ClassicArray>(file, name);
}

}  // namespace cachebisect::stages
