// The documentation of stages from their declarations, for the terminal and for docs/use/stages.md.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect {

/// One stage for the terminal: what it does, its parameters with accepted values and defaults, and
/// an example. Lines of at most 80 columns unless a word is longer; ends with a newline.
CACHEBISECT_INTERNAL_API std::string stage_text(const StageType& type);

/// All stages for the terminal, one per line unless too long, grouped by category.
CACHEBISECT_INTERNAL_API std::string stages_text(const Registry& registry);

/// The whole of docs/use/stages.md: every stage, grouped by category.
CACHEBISECT_INTERNAL_API std::string stages_markdown(const Registry& registry);

}  // namespace cachebisect
