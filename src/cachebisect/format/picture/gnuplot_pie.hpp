// The gnuplot script of pie charts.
#pragma once

#include <string>

#include "cachebisect/format/picture/picture.hpp"

namespace cachebisect::gnuplot {

[[nodiscard]] std::string pie_script(const PieChart& chart);

}  // namespace cachebisect::gnuplot
