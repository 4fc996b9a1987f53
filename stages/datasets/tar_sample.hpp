// Reads one sample of a tar archive: its image and its label, at once where they lie together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stages/datasets/tar_set.hpp"

#include "cachebisect/data/memory.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// Fills `image`; returns the bytes of the label, in memory of `arena`. Throws as TarFile::read().
[[nodiscard]] std::span<const std::byte> read_tar_sample(const TarSet::Place& place,
                                                         std::span<std::byte> image, Arena& arena);
/// What is read for it; its share of the archive where archives are read as a whole.
[[nodiscard]] std::vector<FileRange> places_of(const TarSet::Place& place, bool as_a_whole);

}  // namespace cachebisect::stages
