// A crop of a pipeline file that can run before the stages in front of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Stages count from 0.
struct CropMove {
  std::size_t crop = 0;
  std::size_t first = 0;  ///< the crop can stand before it, and so before all up to its place
  std::vector<std::size_t> spared;  ///< those that then work on fewer pixels
  std::optional<double> left;       ///< share of the pixels that the crop leaves; empty: unknown
  bool adds_copy = false;  ///< then the last sample stage cannot write straight into the batch
  std::string why;         ///< outputs change if it moves: the reason; then `first` is `crop`
};

/// The crop behind `stage` that leaves fewer pixels: one that can stand before it with the same
/// outputs, as far up as that goes, or else the next one with the reason why it cannot. Empty if
/// there is none, or if the effective pipeline is not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<CropMove> find_crop(
    const ChainDescription& chain, std::size_t stage);

/// JSON Patch operations that move the crop, with its name and its parameters.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Edit> edits_of(const ChainDescription& chain,
                                                                  const CropMove& move);

}  // namespace cachebisect
