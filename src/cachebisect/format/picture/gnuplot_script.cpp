#include "cachebisect/format/picture/gnuplot_script.hpp"

#include <variant>

namespace cachebisect {
namespace {

struct Script {
  std::string operator()(const BarChart& chart) const { return gnuplot::bar_script(chart); }
  std::string operator()(const LineChart& chart) const { return gnuplot::line_script(chart); }
  std::string operator()(const PieChart& chart) const { return gnuplot::pie_script(chart); }
};

}  // namespace

std::string gnuplot_script(const Picture& picture) { return std::visit(Script{}, picture); }

}  // namespace cachebisect
