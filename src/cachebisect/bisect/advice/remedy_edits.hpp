// Edits of a pipeline file that move stages behind the copy.
#pragma once

#include <cstddef>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// What the device must do if it does stage `first` (0-based): that stage, and those behind it that
/// work on samples and on the same fields. Ascending. Where the device cannot do one of them, where
/// images differ in size or the effective pipeline is not known: only `first` if it is
/// element-wise, for which there are no edits then, and nothing otherwise.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::size_t> stages_to_move(
    const ChainDescription& chain, std::size_t first);

/// JSON Patch operations that remove `stages` (0-based, ascending, all of type augment.X) and
/// append the device's own forms of them, with the parameters that they have now. Empty where that
/// cannot be written down: the effective pipeline is not known, a stage between works on the same
/// fields, or the device has stages already.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Edit> move_to_device(
    const ChainDescription& chain, const std::vector<std::size_t>& stages);

}  // namespace cachebisect
