// Edits of a pipeline file that move element-wise stages behind the copy.
#pragma once

#include <cstddef>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// JSON Patch operations that remove `stages` (0-based, ascending, all of type augment.X) and
/// append the device's own form of the last of them, with the parameters that it has now. Empty
/// where that cannot be written down: the effective pipeline is not known, a stage between works on
/// the same fields, or the device has stages already.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Edit> move_to_device(
    const ChainDescription& chain, const std::vector<std::size_t>& stages);

}  // namespace cachebisect
