// The files that samples are read from, if their source can tell.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// Empty if the source cannot name the files, as when one has vanished: reading the sample will
/// report it. Throws std::bad_alloc.
[[nodiscard]] std::vector<FileRange> files_of(const SourceStage& source, SampleIndex index);

/// True if the source says that a sample is in no file: it reads none, or does not tell.
[[nodiscard]] bool names_no_files(const SourceStage& source, SampleIndex index);

/// Bytes of all files of the data set. Estimated from at most 256 of `read`, samples that have been
/// read before, because looking up their files brings metadata into memory. Empty if the source
/// reads no files.
CACHEBISECT_INTERNAL_API std::optional<double> data_set_bytes(const SourceStage& source,
                                                              std::span<const SampleIndex> read);

}  // namespace cachebisect
