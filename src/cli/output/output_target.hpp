// What an output path stands for: a file to replace, something to write to, or a descriptor of this
// process.
#pragma once

#include <filesystem>
#include <string>

namespace cachebisect::cli {

struct OutputTarget {
  enum class Kind {
    file,       ///< a regular file, or nothing yet: replaced as a whole
    stream,     ///< a device, a FIFO: written to, never replaced
    descriptor  ///< /dev/stdout, /dev/fd/N: an open file of this process, whatever it is
  };
  Kind kind = Kind::file;
  std::filesystem::path path;  ///< of a file: absolute, with symbolic links followed
  int descriptor = -1;
};

/// Follows symbolic links, so that a link stays and what it points to is written. Throws
/// std::filesystem::filesystem_error with the system's reason: a folder, a missing folder, a loop.
OutputTarget resolve_output(const std::string& path);

}  // namespace cachebisect::cli
