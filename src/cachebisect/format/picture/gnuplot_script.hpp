// The gnuplot script of a picture. Nothing in the picture's texts acts on gnuplot.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/picture/picture.hpp"

namespace cachebisect {

/// Writes a PNG file to gnuplot's standard output.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string gnuplot_script(const Picture& picture);

}  // namespace cachebisect
