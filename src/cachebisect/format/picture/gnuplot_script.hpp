// The gnuplot script of a picture. Nothing in the picture's texts acts on gnuplot.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/picture/picture.hpp"

namespace cachebisect {

/// Writes a PNG file to gnuplot's standard output.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string gnuplot_script(const Picture& picture);

namespace gnuplot {

// The parts of gnuplot_script(), a file each.
[[nodiscard]] std::string bar_script(const BarChart& chart);
[[nodiscard]] std::string line_script(const LineChart& chart);
[[nodiscard]] std::string pie_script(const PieChart& chart);

}  // namespace gnuplot
}  // namespace cachebisect
