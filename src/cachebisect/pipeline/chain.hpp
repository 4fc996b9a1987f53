// Rules of the chain: the order of stages, default names, and how messages name stages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// "stage 'crop' (augment.random_crop)": how every message names a stage.
CACHEBISECT_INTERNAL_API std::string describe(const ChainStage& stage);

/// "sample 12 (photos/a.jpg)"
CACHEBISECT_INTERNAL_API std::string describe(SampleIndex index, const SampleOrigin& origin);

/// "image uint8 [32, 32, 3], label int64 []"
CACHEBISECT_INTERNAL_API std::string describe(const SampleSpec& spec);

/// The category of a read, decode, collate or copy stage, else the part of its type after the dot.
std::string_view base_stage_name(std::string_view type) noexcept;

/// The name of a stage without one: base_stage_name(), with `_2`, `_3`, ... if that is taken.
CACHEBISECT_INTERNAL_API std::string default_stage_name(std::string_view type,
                                                        std::span<const ChainStage> chain);

/// Throws Error(usage) unless the chain is one source, sample stages, one collate, batch stages,
/// one copy and device stages, with unique names. The message names the stages and the remedy.
CACHEBISECT_INTERNAL_API void check_order(std::span<const ChainStage> chain);

}  // namespace cachebisect
