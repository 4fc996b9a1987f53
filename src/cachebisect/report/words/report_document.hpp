// The parts of a report that text and Markdown share; the page has the table too.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/document/document.hpp"

namespace cachebisect {

/// Throughput from the ceiling down to live; without rows if there are no boundaries.
[[nodiscard]] document::Table boundary_table(const Report& report);
/// What follows from the verdict, a paragraph each.
[[nodiscard]] Document consequences_document(const Report& report);
/// The report's glossary: what each of its numbers means (--explain).
[[nodiscard]] CACHEBISECT_INTERNAL_API Document explained_document(const Report& report);

}  // namespace cachebisect
