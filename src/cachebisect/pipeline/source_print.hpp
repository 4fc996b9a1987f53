// What tells a set of samples from another one under the same name.
#pragma once

#include <string>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// The number of samples, and a digest of names, sizes and times of the files that hold them: of
/// some thousand samples, spread over all. `source`: open.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string fingerprint(const SourceStage& source);

}  // namespace cachebisect
