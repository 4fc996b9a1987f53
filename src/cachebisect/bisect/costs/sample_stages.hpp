// The stages of a chain that make samples: those before collate.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// "transforms[2]" of "transforms[2] Normalize": what settings of jobs in code call a stage.
[[nodiscard]] inline std::string_view first_word(std::string_view name) noexcept {
  return name.substr(0, name.find(' '));
}

/// How many of the first stages make samples.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::size_t count_sample_stages(
    const ChainDescription& chain);

/// The sample stage (0-based) of which `word` is the first word of the name; empty if there is
/// none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::size_t> sample_stage(
    const ChainDescription& chain, std::string_view word);

}  // namespace cachebisect
