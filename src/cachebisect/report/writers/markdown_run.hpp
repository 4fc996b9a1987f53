// What was measured, on what and how, as Markdown.
#pragma once

#include <string>

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// A table of what was run, the machine and its noise.
[[nodiscard]] std::string markdown_run(const Report& report);
/// The pipeline with its defaults as a block of JSON; empty if there is none.
[[nodiscard]] std::string markdown_pipeline(const Report& report);

}  // namespace cachebisect
