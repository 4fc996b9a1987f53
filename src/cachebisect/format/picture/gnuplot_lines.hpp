// The gnuplot script of line charts.
#pragma once

#include <string>

#include "cachebisect/format/picture/picture.hpp"

namespace cachebisect::gnuplot {

[[nodiscard]] std::string line_script(const LineChart& chart);

}  // namespace cachebisect::gnuplot
