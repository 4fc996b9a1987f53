// The share of samples' files that is in the page cache, and how to evict it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"
#include "cachebisect/replay/reading/file_opener.hpp"
#include "cachebisect/replay/reading/page_cache.hpp"

namespace cachebisect {

/// Checks and evicts pages. Once it has learned that cached lookup works, it opens a file whose
/// path is not in memory only as a probe, one in 64: such a file has no pages in memory unless
/// memory pressure dropped its path first, and opening it would make training's lookup of it warm.
/// Files that cannot be opened, and samples whose files the source cannot name, are left out:
/// reading them will report why. Not thread safe.
class CACHEBISECT_INTERNAL_API Residency {
 public:
  explicit Residency(FileOpener opener = FileOpener()) : opener_(std::move(opener)) {}

  /// Learns from the files of a sample that has been read whether cached lookup works.
  void learn(const SourceStage& source, SampleIndex index);
  /// True if checking a file does not bring its metadata into memory.
  [[nodiscard]] bool spares_metadata() const noexcept { return opener_.uses_cached_lookup(); }

  /// Share of the pages of exactly these samples that are in memory; files that were not opened
  /// count as the probes did. Empty if the source reads no files or the system does not report it.
  [[nodiscard]] std::optional<double> share(const SourceStage& source,
                                            std::span<const SampleIndex> indices);
  /// Asks the system to drop these samples' pages (fsync, POSIX_FADV_DONTNEED). Files whose path is
  /// not in memory are opened only if the probes show that more than 5% of their pages are.
  void evict(const SourceStage& source, std::span<const SampleIndex> indices);

 private:
  /// Sums over the files opened as probes.
  struct Probes {
    double files = 0;
    double pages = 0;
    double resident = 0;
  };

  /// The file; empty if it is to be left alone. A probe is counted by its pages in `ranges`.
  [[nodiscard]] std::optional<FileDescriptor> look_up(const std::string& path,
                                                      const std::vector<PageRange>& ranges);

  FileOpener opener_;
  Probes probes_;
  std::uint64_t missed_ = 0;  ///< files whose path was not in memory
};

}  // namespace cachebisect
