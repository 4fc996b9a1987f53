// The archives that a path names.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// All texts of a pattern in its order: a-{000..099}, {a,b}-{0..9}. Throws Error(usage) for too
/// many.
[[nodiscard]] std::vector<std::string> expand_pattern(const std::string& pattern);

/// One archive; the *.tar of a folder in natural order, without hidden ones, else its *.tar.gz,
/// *.tgz and *.tar.zst; or those of a pattern:
/// train-{000..099}.tar, {train,more}-{0..9}.tar. What exists is no pattern. Throws Error(data) if
/// a folder has none or nothing is there, Error(usage) for a pattern of too many.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> tar_paths(const std::string& path);
/// The same on a server; see object_paths().
[[nodiscard]] std::vector<std::string> tar_object_paths(const std::string& path,
                                                        const RemoteStore& store,
                                                        const OpenContext& context);

}  // namespace cachebisect::stages
