// Which files of a folder are read, and which parts of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {

struct DataFile {
  std::string path;
  std::uint64_t bytes = 0;
};

/// Regular files below a folder that hold something, in a random order; so many at most, drawn from
/// the first some thousand entries. Entries that cannot be read are left out.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<DataFile> find_files(const std::string& folder,
                                                                        std::size_t most);

/// Part of a file.
struct PlannedRead {
  std::size_t file = 0;  ///< of the list
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

/// At most `count` reads of `bytes` at random places, no two of them at the same; empty if the
/// files do not have `least` such places.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<PlannedRead> plan_reads(
    const std::vector<DataFile>& files, std::size_t bytes, std::size_t count, std::size_t least);

/// A new file of a folder without a name, which is gone when it is closed; empty if it cannot be
/// written, with errno set.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<FileDescriptor> unnamed_file(
    const std::string& folder, std::size_t bytes);
/// The name under which this process can open a descriptor again.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string path_of(const FileDescriptor& file);

}  // namespace cachebisect
