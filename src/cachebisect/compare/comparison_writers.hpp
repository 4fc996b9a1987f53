// Writers of a comparison: text for a terminal, Markdown for a pull request, JSON. They compute
// nothing.
#pragma once

#include <iosfwd>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/compare/comparison.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect {

/// As wide as the terminal, but for names that are longer.
CACHEBISECT_API std::string to_text(const Comparison& comparison, const TextOptions& options = {});
/// For a pull-request comment or the summary of a CI job.
CACHEBISECT_API std::string to_markdown(const Comparison& comparison);
/// docs/use/compare.md, "As JSON".
CACHEBISECT_API void write_json(const Comparison& comparison, std::ostream& out);

}  // namespace cachebisect
