// The gnuplot script of bar charts.
#pragma once

#include <string>

#include "cachebisect/format/picture/picture.hpp"

namespace cachebisect::gnuplot {

[[nodiscard]] std::string bar_script(const BarChart& chart);

}  // namespace cachebisect::gnuplot
