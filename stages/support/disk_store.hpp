// Samples by index in one SQLite file, within a limit: several processes read and write it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stages/support/sample_store.hpp"

namespace cachebisect::stages {

struct DiskStoreOptions {
  std::string folder;  ///< holds cache.sqlite; made if it is missing
  std::uint64_t limit_bytes = 0;
  Eviction eviction = Eviction::none;
  /// What the samples are of, a fact per line: another text is another cache.
  std::string content;
};

/// The smallest limit: below it the log of the file would be most of it.
inline constexpr std::uint64_t kLeastDiskLimit = std::uint64_t{16} << 20U;

/// A write is one transaction: a process that is killed, or a full disk, leaves what was there
/// before. Each sample has a checksum, which covers its index; what does not match is not there.
/// Throws Error(usage) if the folder cannot be used, lies on a network file system, or holds
/// something else; later calls throw Error(data) if the file is damaged.
[[nodiscard]] std::unique_ptr<SampleStore> open_disk_store(const DiskStoreOptions& options);

}  // namespace cachebisect::stages
