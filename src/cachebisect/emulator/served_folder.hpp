// The files below one folder, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {

struct ServedFile {
  FileDescriptor file;
  std::uint64_t bytes = 0;
  std::string etag;      ///< with its quotation marks; another one for other content
  std::string modified;  ///< "Sun, 06 Nov 1994 08:49:37 GMT"
};

/// Thread safe.
class CACHEBISECT_INTERNAL_API ServedFolder {
 public:
  /// Throws Error(usage) that names the folder if it cannot be read.
  explicit ServedFolder(const std::string& folder);

  /// The regular file at `path`, which begins with a slash and may be anything. Empty if there is
  /// none, if it cannot be read, or if it lies outside: by "..", or by a link.
  [[nodiscard]] std::optional<ServedFile> open(std::string_view path) const;

 private:
  [[nodiscard]] bool is_below(const FileDescriptor& file) const;

  FileDescriptor folder_;
};

/// As servers write it, in the same words whatever the locale. `seconds` since 1970.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string http_date(std::int64_t seconds);

}  // namespace cachebisect
