// Reads a JSON report back, from a file that may be damaged, hand-edited or hostile.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// What write_json() wrote, without what it leaves out; unknown keys are ignored, and so is the
/// version of the tool that wrote it. `origin` names the text in messages. Throws Error(usage)
/// "origin: /json/pointer: what" for text that is no report or one of another schema version, is
/// larger than 32 MiB, or contradicts itself.
[[nodiscard]] CACHEBISECT_API Report read_report(std::string_view text, const std::string& origin);
/// The report in a file. Throws as read_report(), and Error(usage) for a file that cannot be read.
[[nodiscard]] CACHEBISECT_API Report load_report(const std::string& file);

}  // namespace cachebisect
