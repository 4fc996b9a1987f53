// How a file keeps samples: what the stage that writes it and the advice on its size must agree on.
#pragma once

#include <cstdint>

namespace cachebisect::cache_file {

/// Small samples share a page, large ones have some of their own.
inline constexpr std::uint64_t kPageBytes = 16384;
/// Bytes of the write-ahead log at which it is written back. Beyond twice as many nothing is stored
/// until it could be: others may read it.
inline constexpr std::uint64_t kLogBytes = std::uint64_t{1} << 20U;
/// The largest sample that is kept, if its part of the limit is not less.
inline constexpr std::uint64_t kLargestBytes = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t kLargestPart = 16;  ///< of the limit, that one sample may take

}  // namespace cachebisect::cache_file
