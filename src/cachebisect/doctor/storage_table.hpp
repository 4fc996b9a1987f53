// What storage gives, in words, next to what a pipeline needs of it.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/doctor/storage_probe.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect {

/// What a measured job asks of storage so that its training step never waits.
struct StorageNeeds {
  std::string name;  ///< of the job
  double bytes_per_second = 0;
  double bytes_per_sample = 0;
};

/// A table of the rows, then a sentence on `needs`, if they are known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_text(const StorageFacts& facts,
                                                           const std::optional<StorageNeeds>& needs,
                                                           const TextOptions& options);

}  // namespace cachebisect
