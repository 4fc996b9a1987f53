#include "stages/modules/parquet_values.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <parquet/types.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::int64_t kBatchLevels = 4096;

/// A value of the physical type `Type` is a `Stored`, and becomes a `Value`.
template <class PhysicalType, class StoredValue, class ReadValue>
struct ValueTypes {
  using Type = PhysicalType;
  using Stored = StoredValue;
  using Value = ReadValue;
};

/// Calls visit(ValueTypes) with those of a column of numbers.
template <class Visit>
void visit_number(const ParquetColumn& column, parquet::Type::type physical, const Visit& visit) {
  switch (column.dtype) {
    case DType::boolean:
      return visit(ValueTypes<parquet::BooleanType, std::uint8_t, std::uint8_t>{});
    case DType::int8:
      return visit(ValueTypes<parquet::Int32Type, std::int8_t, std::int8_t>{});
    case DType::uint8:
      return visit(ValueTypes<parquet::Int32Type, std::uint8_t, std::uint8_t>{});
    case DType::uint16:
      return visit(ValueTypes<parquet::Int32Type, std::uint16_t, std::uint16_t>{});
    case DType::int32:
      return visit(ValueTypes<parquet::Int32Type, std::int32_t, std::int32_t>{});
    case DType::int64:
      if (physical == parquet::Type::INT64)
        return visit(ValueTypes<parquet::Int64Type, std::int64_t, std::int64_t>{});
      return visit(ValueTypes<parquet::Int32Type, std::uint32_t, std::int64_t>{});
    case DType::float32:
      return visit(ValueTypes<parquet::FloatType, float, float>{});
    case DType::float64:
      return visit(ValueTypes<parquet::DoubleType, double, double>{});
    default:
      throw Error(ErrorKind::internal, "a column of Parquet has an unexpected type");
  }
}

/// Walks over the values of a column chunk, row by row.
template <class Type>
class ChunkWalk {
 public:
  using Physical = typename Type::c_type;

  ChunkWalk(parquet::ColumnReader& reader, const ParquetColumn& column, std::uint64_t first_row)
      : reader_(&static_cast<parquet::TypedColumnReader<Type>&>(reader)),
        column_(&column),
        first_row_(first_row),
        present_(reader.descr()->max_definition_level()) {}

  /// Calls use(row, place in it, value), row from 0, until it returns false. Returns how many rows
  /// began.
  template <class Use>
  std::uint64_t run(const Use& use) {
    std::uint64_t begun = 0;
    std::uint64_t place = 0;
    while (reader_->HasNext()) {
      std::int64_t values = 0;
      const std::int64_t levels = reader_->ReadBatch(kBatchLevels, definitions_.get(),
                                                     repetitions_.get(), values_.get(), &values);
      if (levels <= 0) break;
      std::int64_t next = 0;
      for (std::int64_t i = 0; i < levels; ++i) {
        if (!column_->is_list || repetitions_[i] == 0) {
          ++begun;
          place = 0;
        }
        if (begun == 0) refuse(0, "does not begin with a list");
        if ((present_ > 0 && definitions_[i] < present_) || next >= values)
          refuse(begun - 1, column_->is_list ? "has an empty list, or one with a missing number"
                                             : "has no value");
        if (!use(begun - 1, place++, values_[next++])) return begun;
      }
    }
    return begun;
  }

  [[noreturn]] void refuse(std::uint64_t row, const std::string& what) const {
    throw Error(ErrorKind::data, "row " + std::to_string(first_row_ + row) + " " + what +
                                     " in the column " + quote(column_->path));
  }
  void require_rows(std::uint64_t found, std::uint64_t wanted) const {
    if (found == wanted) return;
    throw Error(ErrorKind::data, "the rows from " + std::to_string(first_row_) + " on are " +
                                     std::to_string(wanted) + ", but the column " +
                                     quote(column_->path) + " has " + std::to_string(found) +
                                     ": the file is damaged");
  }

 private:
  parquet::TypedColumnReader<Type>* reader_;
  const ParquetColumn* column_;
  std::uint64_t first_row_;
  std::int16_t present_;
  std::unique_ptr<Physical[]> values_ = std::make_unique<Physical[]>(kBatchLevels);
  std::unique_ptr<std::int16_t[]> definitions_ = std::make_unique<std::int16_t[]>(kBatchLevels);
  std::unique_ptr<std::int16_t[]> repetitions_ = std::make_unique<std::int16_t[]>(kBatchLevels);
};

/// Where the values of one length go.
struct FixedRows {
  const RowBlock* block;
  std::byte* values;

  /// Calls store(value, place) for each, `length` in each row, of `bytes` each.
  template <class Type, class Store>
  void fill(ChunkWalk<Type> walk, std::uint64_t bytes, const Store& store) const {
    const std::uint64_t length = block->value_bytes() / bytes;
    const auto refuse_length = [&](std::uint64_t row, const std::string& found) {
      walk.refuse(row, "has " + found + " numbers, where the first row has " +
                           std::to_string(length) + ",");
    };
    std::uint64_t in_row = length;
    const std::uint64_t rows =
        walk.run([&](std::uint64_t row, std::uint64_t place, const auto& value) {
          if (row >= block->rows()) walk.require_rows(row + 1, block->rows());
          if (place == 0 && in_row != length) refuse_length(row - 1, std::to_string(in_row));
          if (place >= length) refuse_length(row, "more");
          store(value, values + row * block->value_bytes() + place * bytes);
          in_row = place + 1;
          return true;
        });
    walk.require_rows(rows, block->rows());
    if (in_row != length) refuse_length(rows - 1, std::to_string(in_row));
  }
};

void read_bytes(ChunkWalk<parquet::ByteArrayType> walk, const RowBlock& block,
                std::uint64_t most_bytes, std::vector<std::byte>& out) {
  const std::uint64_t rows =
      walk.run([&](std::uint64_t row, std::uint64_t, const parquet::ByteArray& value) {
        if (row >= block.rows()) walk.require_rows(row + 1, block.rows());
        if (value.len == 0) walk.refuse(row, "has a value without bytes");
        if (out.size() + value.len > most_bytes) {
          throw Error(ErrorKind::data, "the rows from the first of their group to row " +
                                           std::to_string(row) + " need more than " +
                                           format_bytes(static_cast<double>(most_bytes)));
        }
        const auto* begin = reinterpret_cast<const std::byte*>(value.ptr);
        out.insert(out.end(), begin, begin + value.len);
        block.set_end(out, row, out.size());
        return true;
      });
  walk.require_rows(rows, block.rows());
}

}  // namespace

void read_parquet_values(parquet::ColumnReader& reader, const ParquetColumn& column,
                         const RowBlock& block, std::uint64_t first_row, std::uint64_t most_bytes,
                         std::vector<std::byte>& out) {
  if (column.is_bytes) {
    using Walk = ChunkWalk<parquet::ByteArrayType>;
    return read_bytes(Walk(reader, column, first_row), block, most_bytes, out);
  }
  const FixedRows rows{&block, out.data() + block.head_bytes()};
  if (column.byte_count > 0 || column.dtype == DType::float16) {
    const std::uint64_t bytes = column.byte_count > 0 ? column.byte_count : size_of(DType::float16);
    using Walk = ChunkWalk<parquet::FLBAType>;
    return rows.fill(Walk(reader, column, first_row), bytes,
                     [&](const parquet::FixedLenByteArray& value, std::byte* to) {
                       std::memcpy(to, value.ptr, bytes);
                     });
  }
  visit_number(column, reader.type(), [&](auto types) {
    using Types = decltype(types);
    using Value = typename Types::Value;
    ChunkWalk<typename Types::Type> walk(reader, column, first_row);
    rows.fill(std::move(walk), sizeof(Value), [](const auto& stored, std::byte* to) {
      const auto value = static_cast<Value>(static_cast<typename Types::Stored>(stored));
      std::memcpy(to, &value, sizeof value);
    });
  });
}

void read_parquet_labels(parquet::ColumnReader& reader, const ParquetColumn& column,
                         const RowBlock& block, std::uint64_t first_row,
                         std::vector<std::byte>& out) {
  visit_number(column, reader.type(), [&](auto types) {
    using Types = decltype(types);
    ChunkWalk<typename Types::Type> walk(reader, column, first_row);
    const std::uint64_t rows = walk.run([&](std::uint64_t row, std::uint64_t, const auto& stored) {
      if (row >= block.rows()) walk.require_rows(row + 1, block.rows());
      const auto value = static_cast<typename Types::Stored>(stored);
      RowBlock::set_label(out, row, static_cast<std::int64_t>(value));
      return true;
    });
    walk.require_rows(rows, block.rows());
  });
}

std::int64_t first_parquet_length(parquet::ColumnReader& reader, const ParquetColumn& column) {
  std::int64_t length = 0;
  const auto count = [&](auto walk) {
    walk.run([&](std::uint64_t row, std::uint64_t, const auto&) {
      if (row == 0) ++length;
      return row == 0;
    });
  };
  if (column.dtype == DType::float16) {
    count(ChunkWalk<parquet::FLBAType>(reader, column, 0));
  } else {
    visit_number(column, reader.type(), [&](auto types) {
      count(ChunkWalk<typename decltype(types)::Type>(reader, column, 0));
    });
  }
  return length;
}

}  // namespace cachebisect::stages
