// Which part of the files that samples are read from lies in the page cache, and how to evict it.
#pragma once

#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// Share of the pages of exactly these samples that are in memory; none when the source
/// reads no files or the system does not tell.
CACHEBISECT_API std::optional<double> resident_share(const SourceStage& source,
                                                     std::span<const SampleIndex> indices);
/// Asks the system to drop these samples' pages (fsync, POSIX_FADV_DONTNEED). Files that cannot be
/// opened are left alone: reading them will say why.
CACHEBISECT_API void evict(const SourceStage& source, std::span<const SampleIndex> indices);

}  // namespace cachebisect
