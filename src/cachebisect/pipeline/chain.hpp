// Rules of the chain: how stages are called in messages, what order works, default names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// "stage 'crop' (augment.random_crop)": how every message calls a stage.
CACHEBISECT_API std::string describe(const ChainStage& stage);

/// "image uint8 [32, 32, 3], label int64 []"
CACHEBISECT_API std::string describe(const SampleSpec& spec);

/// The name of a stage that was given none: the category for read, decode, collate and copy, else
/// the part after the dot; `_2`, `_3`, ... when it is taken.
CACHEBISECT_API std::string default_stage_name(std::string_view type,
                                               std::span<const ChainStage> chain);

/// Throws Error(usage) unless the chain is one source, sample stages, one collate, batch stages,
/// one copy, device stages, with different names. The message names the stages and what would be
/// right.
CACHEBISECT_API void check_order(std::span<const ChainStage> chain);

}  // namespace cachebisect
