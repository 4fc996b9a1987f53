// The share of samples' files that is in the page cache, and how to evict it.
#pragma once

#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// Share of the pages of exactly these samples that are in memory; empty if the source reads no
/// files or the system does not report it.
CACHEBISECT_INTERNAL_API std::optional<double> resident_share(const SourceStage& source,
                                                              std::span<const SampleIndex> indices);
/// Asks the system to drop these samples' pages (fsync, POSIX_FADV_DONTNEED). Ignores files that
/// cannot be opened: reading them will report why.
CACHEBISECT_INTERNAL_API void evict(const SourceStage& source,
                                    std::span<const SampleIndex> indices);

}  // namespace cachebisect
