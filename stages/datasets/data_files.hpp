// The files of a data set in many: one, those of a folder, or those of a pattern.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachebisect::stages {

/// A format, as messages and folders know it.
struct DataFileKind {
  const char* name;   ///< "TFRecord"
  const char* names;  ///< "*.tfrecord, *.tfrec"
  bool (*is_one)(std::string_view name);
  const char* pattern;  ///< an example of one: "train-{00000..00099}-of-00100"
  /// Those that a folder is taken for if it has no others; null: none.
  bool (*is_packed)(std::string_view name) = nullptr;
};

/// One file; those of a folder in natural order, without hidden ones; or those of a pattern (see
/// expand_pattern()). Throws Error(data) if there are none, Error(usage) for a pattern of too many,
/// or an address of a server.
[[nodiscard]] std::vector<std::string> data_file_paths(const std::string& path,
                                                       const DataFileKind& kind);

}  // namespace cachebisect::stages
