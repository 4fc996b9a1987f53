// Draws pictures as PNG files, by gnuplot.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/picture/picture.hpp"

namespace cachebisect {

/// True if gnuplot can be started and draws PNG files.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool can_draw_png();
/// What to say if it cannot: with the remedy.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string no_gnuplot_text();

/// The bytes of a PNG file of 1200 x 675 pixels, in colours that people with any colour vision can
/// tell apart. Runs gnuplot, which reads neither files nor settings of the user. Throws
/// Error(output) with the remedy if there is no gnuplot or it fails.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string draw_png(const Picture& picture);

}  // namespace cachebisect
