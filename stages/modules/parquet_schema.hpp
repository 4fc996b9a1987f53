// Which column of a Parquet file is meant, and what its values become.
#pragma once

#include <cstdint>
#include <string>

#include <parquet/schema.h>

#include "cachebisect/data/dtype.hpp"

namespace cachebisect::stages {

struct ParquetColumn {
  int number = 0;    ///< of the leaf in the schema
  std::string path;  ///< in the schema, for messages
  DType dtype = DType::uint8;
  bool is_list = false;
  bool is_bytes = false;         ///< of any length
  std::uint64_t byte_count = 0;  ///< of each value, if they are bytes of one length
};

/// Throws Error(data), "what is wrong" alone, for a column that is not there, and for one with
/// values that cannot be samples. `parameter`: that names the column.
[[nodiscard]] ParquetColumn find_parquet_column(const parquet::SchemaDescriptor& schema,
                                                const std::string& name,
                                                const std::string& parameter);
/// Throws in the same way unless its values are whole numbers, one in each row.
void require_parquet_label(const ParquetColumn& column);

}  // namespace cachebisect::stages
