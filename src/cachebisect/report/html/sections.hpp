// The sections of the page, in the order in which it shows them. Each is empty if there is nothing
// to show in it.
#pragma once

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/html/html_text.hpp"

namespace cachebisect::html {

/// What was run.
[[nodiscard]] Html job_section(const Report& report);
/// The sentence, the figures behind it, and what follows.
[[nodiscard]] Html verdict_section(const Report& report);
/// The chain with the drops on it.
[[nodiscard]] Html flow_section(const Report& report);
/// From the ceiling down to live.
[[nodiscard]] Html waterfall_section(const Report& report);
/// Starvation against contention.
[[nodiscard]] Html loss_section(const Report& report);
[[nodiscard]] Html remedies_section(const Report& report);
[[nodiscard]] Html what_ifs_section(const Report& report);
[[nodiscard]] Html warnings_section(const Report& report);
[[nodiscard]] Html stages_section(const Report& report);
/// What each stage costs live and replayed.
[[nodiscard]] Html busy_section(const Report& report);
[[nodiscard]] Html ranks_section(const Report& report);
/// Every block by the time when it began.
[[nodiscard]] Html timeline_section(const Report& report);
/// Cache, machine and settings.
[[nodiscard]] Html facts_section(const Report& report);
/// What the numbers mean.
[[nodiscard]] Html glossary_section(const Report& report);
/// The JSON report, as far as `bytes` allow.
[[nodiscard]] Html json_section(const Report& report, std::size_t bytes);

}  // namespace cachebisect::html
