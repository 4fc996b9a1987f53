// Ways to read many small files from beginning to end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cold_files {

using Paths = std::vector<std::string>;

struct Reader {
  std::string name;
  /// Reads all; returns how many bytes there were. Throws std::runtime_error.
  std::function<std::uint64_t(const Paths&)> read;
};

/// So many threads, each of which opens, reads and closes one file after the other: what the
/// workers of a pipeline do.
Reader threads(int count);
/// The same, where each thread opens files ahead, and tells the system that it will need them.
Reader threads_ahead(int count, std::size_t ahead);
/// One thread with so many files on their way at once by io_uring.
Reader ring(unsigned files);

}  // namespace cold_files
