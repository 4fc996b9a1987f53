// A buffer of pieces that are read as a whole: compressed files, row groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// Pieces that a buffer has room for.
inline constexpr std::uint64_t kWholeRunsAtLeast = 4;

/// Each piece is a run of samples, in memory as a whole.
struct WholeRuns {
  ReadRuns runs;
  std::size_t slots = 0;    ///< pieces that are in memory at once
  std::size_t largest = 0;  ///< which piece needs most
  std::uint64_t bytes = 1;  ///< how much
  bool fits = false;        ///< if not, the buffer has no room for kWholeRunsAtLeast of them

  struct Piece {
    std::uint64_t samples = 0;
    std::uint64_t bytes = 0;
  };
  /// Of `count` pieces, one or more, in `buffer_bytes`.
  WholeRuns(std::size_t count, const std::function<Piece(std::size_t)>& piece,
            std::uint64_t buffer_bytes);
};

/// The part of `whole` that stands for one of its samples: an equal one, as all of it is read for
/// them.
[[nodiscard]] FileRange share_of(const FileRange& whole, std::uint64_t sample,
                                 std::uint64_t samples);

}  // namespace cachebisect::stages
