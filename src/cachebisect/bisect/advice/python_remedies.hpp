// Remedies as lines of Python.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Puts the lines of Python to change in place of the edits and flags of a pipeline file. A remedy
/// that changes no setting has the line that its code is usually about, if there is one.
CACHEBISECT_INTERNAL_API void write_in_python(Remedy& remedy);

}  // namespace cachebisect
