// Parquet files by hand, with any number in their metadata: a column "image" of bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cachebisect::test {

/// A struct of Thrift's compact protocol.
class ThriftStruct {
 public:
  ThriftStruct& i32(int field, std::int64_t value) { return put(field, kI32, zigzag(value)); }
  ThriftStruct& i64(int field, std::int64_t value) { return put(field, kI64, zigzag(value)); }
  ThriftStruct& text(int field, std::string_view value) {
    return put(field, kBinary, varint(value.size()) += value);
  }
  ThriftStruct& nested(int field, const ThriftStruct& value) {
    return put(field, kStruct, value.bytes());
  }
  /// A list that claims to have so many structs, of which `structs` are there.
  ThriftStruct& structs(int field, std::uint64_t claimed, const std::string& structs) {
    return put(field, kList, list_head(kStruct, claimed) += structs);
  }
  /// A list with one number, or one text.
  ThriftStruct& one_i32(int field, std::int64_t value) {
    return put(field, kList, list_head(kI32, 1) += zigzag(value));
  }
  ThriftStruct& one_text(int field, std::string_view value) {
    return put(field, kList, (list_head(kBinary, 1) += varint(value.size())) += value);
  }
  [[nodiscard]] std::string bytes() const { return fields_ + '\0'; }

 private:
  static constexpr unsigned kI32 = 5;
  static constexpr unsigned kI64 = 6;
  static constexpr unsigned kBinary = 8;
  static constexpr unsigned kList = 9;
  static constexpr unsigned kStruct = 12;

  static std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value % 0x80 + 0x80);
    return bytes += static_cast<char>(value);
  }
  static std::string zigzag(std::int64_t value) {
    const std::uint64_t twice = static_cast<std::uint64_t>(value) << 1U;
    return varint(value < 0 ? ~twice : twice);
  }
  static std::string list_head(unsigned type, std::uint64_t claimed) {
    return static_cast<char>(0xF0U + type) + varint(claimed);
  }
  ThriftStruct& put(int field, unsigned type, const std::string& value) {
    fields_ += static_cast<char>(static_cast<unsigned>(field - last_) * 16 + type);
    fields_ += value;
    last_ = field;
    return *this;
  }

  std::string fields_;
  int last_ = 0;
};

inline std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i, value >>= 8U) bytes += static_cast<char>(value % 256);
  return bytes;
}

/// Metadata between the marks of a Parquet file, after `pages`.
inline std::string parquet_file(const std::string& pages, const std::string& metadata,
                                std::uint32_t claimed_bytes) {
  return "PAR1" + pages + metadata + little_endian(claimed_bytes) + "PAR1";
}

inline std::string parquet_file(const std::string& pages, const std::string& metadata) {
  return parquet_file(pages, metadata, static_cast<std::uint32_t>(metadata.size()));
}

inline constexpr int kPlain = 0;
inline constexpr int kDictionary = 8;  ///< of values in a data page
inline constexpr int kGzip = 2;

/// A page with its header; what is negative is what `bytes` has.
struct PageText {
  std::string bytes;
  std::int64_t values = 2;
  int encoding = kPlain;
  std::int64_t unpacked_bytes = -1;
  std::int64_t stored_bytes = -1;

  [[nodiscard]] std::string data() const {
    return header(0)
               .nested(5, ThriftStruct()
                              .i32(1, values)
                              .i32(2, encoding)
                              .i32(3, kRunLength)
                              .i32(4, kRunLength))
               .bytes() += bytes;
  }
  [[nodiscard]] std::string dictionary() const {
    return header(2).nested(7, ThriftStruct().i32(1, values).i32(2, encoding)).bytes() += bytes;
  }

 private:
  static constexpr int kRunLength = 3;

  [[nodiscard]] ThriftStruct header(int type) const {
    const auto size = static_cast<std::int64_t>(bytes.size());
    return ThriftStruct()
        .i32(1, type)
        .i32(2, unpacked_bytes < 0 ? size : unpacked_bytes)
        .i32(3, stored_bytes < 0 ? size : stored_bytes);
  }
};

/// Two values of two bytes.
inline std::string two_values() { return little_endian(2) + "ab" + little_endian(2) + "cd"; }

/// A file of one row group, whose pages follow the first mark.
struct TableText {
  std::string pages = PageText{.bytes = two_values()}.data();
  std::int64_t rows = 2;
  std::int64_t values = 2;
  int codec = 0;
  std::int64_t offset = 4;
  std::int64_t dictionary_offset = 0;  ///< 0: none
  std::int64_t stored_bytes = static_cast<std::int64_t>(pages.size());
  std::int64_t unpacked_bytes = static_cast<std::int64_t>(pages.size());
  // Claims of lists:
  std::uint64_t groups = 1;
  std::uint64_t columns = 1;
  std::uint64_t leaves = 1;
  std::uint64_t notes = 0;  ///< of keys and values

  [[nodiscard]] std::string file() const { return parquet_file(pages, metadata()); }
  [[nodiscard]] std::string metadata() const {
    const std::string leaf = ThriftStruct().i32(1, kByteArray).i32(3, 0).text(4, "image").bytes();
    const std::string root = ThriftStruct().text(4, "schema").i32(5, 1).bytes();
    ThriftStruct all;
    all.i32(1, 1).structs(2, leaves + 1, root + leaf).i64(3, rows).structs(4, groups, group());
    if (notes > 0) all.structs(5, notes, {});
    return all.bytes();
  }

 private:
  static constexpr int kByteArray = 6;

  [[nodiscard]] std::string group() const {
    ThriftStruct chunk;
    chunk.i32(1, kByteArray).one_i32(2, kPlain).one_text(3, "image").i32(4, codec).i64(5, values);
    chunk.i64(6, unpacked_bytes).i64(7, stored_bytes).i64(9, offset);
    if (dictionary_offset != 0) chunk.i64(11, dictionary_offset);
    const std::string column = ThriftStruct().i64(2, offset).nested(3, chunk).bytes();
    return ThriftStruct().structs(1, columns, column).i64(2, unpacked_bytes).i64(3, rows).bytes();
  }
};

}  // namespace cachebisect::test
