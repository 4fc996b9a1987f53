// A buffer of pieces that are read as a whole: compressed files, row groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// Pieces that a buffer has room for.
inline constexpr std::uint64_t kWholeRunsAtLeast = 4;

/// What is read as a whole.
struct WholePiece {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
};

/// The pieces of a data set, one or more.
struct WholePieces {
  std::size_t count = 0;
  std::function<WholePiece(std::size_t)> piece;
  std::function<std::string(std::size_t)> path;  ///< of the file that holds a piece
  std::string_view name{};                       ///< what of its file it is: "a row group of "
  std::string_view why;  ///< "whole files are read; give more": why pieces must fit, what to do
};

/// Each piece is a run of samples, in memory as a whole.
struct WholeRuns {
  ReadRuns runs;
  std::size_t slots = 0;  ///< pieces that are in memory at once

  /// Throws Error(data) that names the largest piece if a buffer of `buffer_bytes` has no room for
  /// kWholeRunsAtLeast of it.
  WholeRuns(const WholePieces& pieces, std::uint64_t buffer_bytes);
};

/// The part of `whole` that stands for one of its samples: an equal one, as all of it is read for
/// them.
[[nodiscard]] FileRange share_of(const FileRange& whole, std::uint64_t sample,
                                 std::uint64_t samples);

}  // namespace cachebisect::stages
