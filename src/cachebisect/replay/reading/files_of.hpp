// Where a sample is on disk, if its source can tell.
#pragma once

#include <vector>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// Empty if the source cannot name the files, as when one has vanished: reading the sample will
/// report it. Throws std::bad_alloc.
[[nodiscard]] std::vector<FileRange> files_of(const SourceStage& source, SampleIndex index);

/// True if the source says that a sample is in no file: it reads none, or does not tell.
[[nodiscard]] bool names_no_files(const SourceStage& source, SampleIndex index);

}  // namespace cachebisect
