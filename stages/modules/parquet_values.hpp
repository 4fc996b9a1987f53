// Values of column chunks of Parquet files, decoded into the rows of a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/datasets/row_block.hpp"
#include "stages/modules/parquet_schema.hpp"
#include <parquet/column_reader.h>

namespace cachebisect::stages {

/// Fills the values of all rows, and their ends; `out` has block.least_bytes() and grows by values
/// of other lengths, up to `most_bytes`. `first_row`: of the group in the file, for messages.
/// Throws Error(data), "what is wrong" alone, for a row without a value or with another length, and
/// for other than block.rows() rows.
void read_parquet_values(parquet::ColumnReader& reader, const ParquetColumn& column,
                         const RowBlock& block, std::uint64_t first_row, std::uint64_t most_bytes,
                         std::vector<std::byte>& out);
/// Fills the labels in the same way.
void read_parquet_labels(parquet::ColumnReader& reader, const ParquetColumn& column,
                         const RowBlock& block, std::uint64_t first_row,
                         std::vector<std::byte>& out);
/// The numbers in the list of the first row.
[[nodiscard]] std::int64_t first_parquet_length(parquet::ColumnReader& reader,
                                                const ParquetColumn& column);

}  // namespace cachebisect::stages
