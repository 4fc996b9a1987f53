// How samples are put into runs, each read at once and shuffled with others in a buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cachebisect/base/export.hpp"

namespace cachebisect::shards {

struct RunSizes {
  std::uint64_t samples = 1;  ///< of a run
  std::uint64_t mixed = 1;    ///< runs whose samples are mixed
  std::uint64_t runs = 0;     ///< of the whole set
  std::size_t slots = 0;      ///< runs that are kept in memory
};

/// Runs of about 1 MB of a set of `samples`, of which there is one, with so many bytes.
[[nodiscard]] CACHEBISECT_INTERNAL_API RunSizes run_sizes(std::uint64_t samples,
                                                          std::uint64_t bytes,
                                                          double buffer_bytes) noexcept;

}  // namespace cachebisect::shards
