#include "stages/modules/parquet_schema.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <parquet/types.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {
namespace {

[[noreturn]] void refuse_column(const std::string& what) { throw Error(ErrorKind::data, what); }

std::string leaf_path(const parquet::SchemaDescriptor& schema, int leaf) {
  return schema.Column(leaf)->path()->ToDotString();
}

/// The name of a list's column without those that Parquet puts below it.
std::string column_name(std::string path) {
  for (const std::string_view end : {".list.element", ".list.item"}) {
    if (path.ends_with(end)) path.resize(path.size() - end.size());
  }
  return path;
}

/// Some of them, quoted.
std::string shown_leaves(const parquet::SchemaDescriptor& schema, const std::vector<int>& leaves) {
  constexpr std::size_t kMostShown = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(leaves.size(), kMostShown); ++i)
    text += (i == 0 ? "" : ", ") + quote(column_name(leaf_path(schema, leaves[i])));
  return leaves.size() > kMostShown ? text + " and more" : text;
}

int find_leaf(const parquet::SchemaDescriptor& schema, const std::string& name,
              const std::string& parameter) {
  std::vector<int> all;
  std::vector<int> parts;
  std::optional<int> bytes;
  for (int leaf = 0; leaf < schema.num_columns(); ++leaf) {
    const std::string path = leaf_path(schema, leaf);
    if (path == name) return leaf;
    all.push_back(leaf);
    if (path.starts_with(name + ".")) parts.push_back(leaf);
    if (path == name + ".bytes") bytes = leaf;
  }
  if (parts.size() == 1) return parts.front();
  if (bytes) return *bytes;
  const std::string remedy = "; name one of them as \"" + parameter + "\"";
  if (!parts.empty()) {
    refuse_column("the column " + quote(name) + " has the parts " + shown_leaves(schema, parts) +
                  remedy);
  }
  refuse_column("there is no column " + quote(name) + "; there are " + shown_leaves(schema, all) +
                remedy);
}

std::optional<DType> parquet_integer(const parquet::LogicalType& logical, bool wide) {
  if (logical.is_none()) return wide ? DType::int64 : DType::int32;
  if (!logical.is_int()) return std::nullopt;  // a date, a time, a decimal
  const auto& type = static_cast<const parquet::IntLogicalType&>(logical);
  switch (type.bit_width()) {
    case 8:
      return type.is_signed() ? DType::int8 : DType::uint8;
    case 16:
      return type.is_signed() ? DType::int32 : DType::uint16;
    case 32:
      return type.is_signed() ? DType::int32 : DType::int64;
    default:
      return type.is_signed() ? std::optional(DType::int64) : std::nullopt;
  }
}

/// Sets what its values become; false if they cannot be read.
bool set_parquet_type(const parquet::ColumnDescriptor& leaf, ParquetColumn& column) {
  const parquet::LogicalType& logical = *leaf.logical_type();
  std::optional<DType> dtype;
  switch (leaf.physical_type()) {
    case parquet::Type::BOOLEAN:
      dtype = DType::boolean;
      break;
    case parquet::Type::INT32:
    case parquet::Type::INT64:
      dtype = parquet_integer(logical, leaf.physical_type() == parquet::Type::INT64);
      break;
    case parquet::Type::FLOAT:
      dtype = DType::float32;
      break;
    case parquet::Type::DOUBLE:
      dtype = DType::float64;
      break;
    case parquet::Type::BYTE_ARRAY:
      column.is_bytes = true;
      if (!logical.is_decimal() && !column.is_list) dtype = DType::uint8;
      break;
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      if (logical.is_float16()) {
        dtype = DType::float16;
      } else if (!logical.is_decimal() && !logical.is_interval() && !column.is_list) {
        column.byte_count = static_cast<std::uint64_t>(leaf.type_length());
        if (column.byte_count > 0) dtype = DType::uint8;
      }
      break;
    default:
      break;
  }
  column.dtype = dtype.value_or(DType::uint8);
  return dtype.has_value();
}

}  // namespace

ParquetColumn find_parquet_column(const parquet::SchemaDescriptor& schema, const std::string& name,
                                  const std::string& parameter) {
  ParquetColumn column;
  column.number = find_leaf(schema, name, parameter);
  const parquet::ColumnDescriptor& leaf = *schema.Column(column.number);
  column.path = column_name(leaf.path()->ToDotString());
  column.is_list = leaf.max_repetition_level() > 0;
  if (leaf.max_repetition_level() > 1)
    refuse_column("the column " + quote(column.path) + " has lists within lists; one list is read");
  if (!set_parquet_type(leaf, column)) {
    refuse_column("the column " + quote(column.path) + " is of the type " +
                  parquet::TypeToString(leaf.physical_type()) + " " +
                  leaf.logical_type()->ToString() + (column.is_list ? ", in lists" : "") +
                  ", which cannot be read; bytes, numbers and lists of numbers can");
  }
  return column;
}

void require_parquet_label(const ParquetColumn& column) {
  switch (column.dtype) {
    case DType::float16:
    case DType::float32:
    case DType::float64:
      break;
    default:
      if (!column.is_list && !column.is_bytes && column.byte_count == 0) return;
  }
  refuse_column("the column " + quote(column.path) +
                " is no label: that is one whole number in each row");
}

}  // namespace cachebisect::stages
