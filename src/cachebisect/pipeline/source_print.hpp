// What tells stored samples from others under the same name.
#pragma once

#include <string>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// What the samples behind these stages are of, a fact per line: the version, the stages, and of
/// the source, which is open if there is one, the number of samples and a digest of names, sizes
/// and times of the files that hold them: of some thousand samples, spread over all.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string content_of(const CacheOrigin& origin);

}  // namespace cachebisect
