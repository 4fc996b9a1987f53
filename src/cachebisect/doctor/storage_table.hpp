// What storage gives, in words, next to what a pipeline needs of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/doctor/storage_probe.hpp"
#include "cachebisect/format/document/document.hpp"

namespace cachebisect {

/// What a measured job asks of storage so that its training step never waits.
struct StorageNeeds {
  std::string name;  ///< of the job
  double bytes_per_second = 0;
  double bytes_per_sample = 0;
};

/// What a table of rows is called.
struct StorageWords {
  std::string wholes = "whole files";  ///< reads of no fixed size
  std::string first = "from the disk";
  std::string again = "from memory";
};

/// A line per row.
[[nodiscard]] document::Table rows_table(const std::vector<StorageRow>& rows,
                                         const StorageWords& words);
/// With how many in flight the rows, of which there is one at least, give what is needed.
[[nodiscard]] std::string needs_sentence(const std::vector<StorageRow>& rows,
                                         const StorageWords& words, const StorageNeeds& needs);

/// A table of the rows, then a sentence on `needs`, if they are known.
[[nodiscard]] CACHEBISECT_INTERNAL_API Document
storage_document(const StorageFacts& facts, const std::optional<StorageNeeds>& needs);

}  // namespace cachebisect
