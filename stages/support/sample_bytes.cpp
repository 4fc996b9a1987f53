#include "stages/support/sample_bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace cachebisect::stages {
namespace {

constexpr std::uint32_t kFormat = 0x31534243;  ///< "CBS1"

template <class T>
void put(std::vector<std::byte>& out, T value) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Reads in turn; every read says whether there were enough bytes.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  [[nodiscard]] bool get(T& value) {
    const auto bytes = take(sizeof(T));
    if (bytes.size() != sizeof(T)) return false;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return true;
  }
  /// Empty if there are fewer.
  [[nodiscard]] std::span<const std::byte> take(std::size_t count) {
    if (count > rest_.size()) return {};
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

void put_field(std::vector<std::byte>& out, const Sample::NamedField& named) {
  put(out, static_cast<std::uint16_t>(named.name.size()));
  for (const char c : named.name) out.push_back(static_cast<std::byte>(c));
  const Field& field = named.field;
  put(out, static_cast<std::uint8_t>(field.dtype()));
  put(out, static_cast<std::uint8_t>(field.shape().dims().size()));
  for (const std::int64_t dim : field.shape().dims()) put(out, dim);
  const std::size_t begin = out.size();
  out.resize(begin + field.byte_size());
  copy_tensor(field.view(), dense_view(out.data() + begin, field.dtype(), field.shape()));
}

/// The shape whose dims come next; empty if they are none.
bool get_shape(Reader& reader, Shape& shape) {
  std::uint8_t rank = 0;
  if (!reader.get(rank) || rank > Shape::kMaxRank) return false;
  std::vector<std::int64_t> dims(rank);
  std::uint64_t elements = 1;
  for (std::int64_t& dim : dims) {
    if (!reader.get(dim) || dim < 0 || dim > std::numeric_limits<std::int32_t>::max()) return false;
    // Also next to a dimension of 0, the product of the others must fit.
    elements *= static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
    if (elements > (std::uint64_t{1} << 40U)) return false;
  }
  shape = Shape(std::span<const std::int64_t>(dims));
  return true;
}

bool get_field(Reader& reader, Sample& out) {
  std::uint16_t length = 0;
  if (!reader.get(length)) return false;
  const auto name = reader.take(length);
  if (name.size() != length) return false;
  std::uint8_t dtype = 0;
  Shape shape;
  if (!reader.get(dtype) || dtype > static_cast<std::uint8_t>(DType::boolean)) return false;
  if (!get_shape(reader, shape)) return false;
  const auto type = static_cast<DType>(dtype);
  const std::size_t size = size_of(type) * static_cast<std::size_t>(shape.elements());
  const auto bytes = reader.take(size);
  if (bytes.size() != size) return false;
  const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  const TensorView view = out.field(text).resize(type, shape);
  if (size > 0) std::memcpy(view.data, bytes.data(), size);
  return true;
}

}  // namespace

void to_bytes(const Sample& sample, std::vector<std::byte>& out) {
  out.clear();
  put(out, kFormat);
  put(out, static_cast<std::uint16_t>(sample.fields().size()));
  for (const Sample::NamedField& named : sample.fields()) put_field(out, named);
}

bool from_bytes(std::span<const std::byte> bytes, Sample& out) {
  Reader reader(bytes);
  std::uint32_t format = 0;
  std::uint16_t count = 0;
  if (!reader.get(format) || format != kFormat || !reader.get(count)) return false;
  for (std::uint16_t i = 0; i < count; ++i) {
    if (!get_field(reader, out)) return false;
  }
  return reader.at_end();
}

}  // namespace cachebisect::stages
