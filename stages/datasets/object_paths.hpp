// The objects of servers that an address names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stages/datasets/data_files.hpp"

#include "cachebisect/base/export.hpp"
#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// Whether a path is that of a pattern: `*` stands for any characters but a slash, and at the begin
/// of a name for no dot.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool matches_pattern(std::string_view path,
                                                            std::string_view pattern) noexcept;

/// One object; those of a pattern of braces (see expand_pattern()), which are not looked up; or, of
/// S3, what a list of the bucket gives: the objects of a pattern with `*`, or of a folder, whose
/// address ends with a slash, those of this kind. Each list is in natural order. Throws
/// Error(usage) for a folder of another server or too many objects, Error(data) if there are none
/// or the bucket cannot be listed, Error(interrupted) when the context's stop is requested.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> object_paths(
    const std::string& path, const DataFileKind& kind, const RemoteStore& store,
    const OpenContext& context);

}  // namespace cachebisect::stages
