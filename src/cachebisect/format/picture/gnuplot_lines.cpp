// The gnuplot script of line charts.
#include <algorithm>
#include <cmath>

#include "cachebisect/format/picture/gnuplot_script.hpp"
#include "cachebisect/format/picture/gnuplot_words.hpp"

namespace cachebisect::gnuplot {
namespace {

constexpr std::size_t kMaxMarked = 60;  ///< points of a line that are marked

std::string data_block(const LineChart& chart, std::size_t s) {
  std::string text = "$data" + std::to_string(s) + " << END\n";
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    const double value = chart.series[s].values[i];
    // An empty line is a gap.
    text += std::isfinite(value) ? number(chart.x[i]) + ' ' + number(value) + '\n' : "\n";
  }
  return text + "END\n";
}

/// A dashed line and its name, raised by so many lines of text.
std::string level_script(const Level& level, const std::string& tagged, double raised) {
  const std::string at = number(level.value);
  return "set arrow " + tagged + " from graph 0, first " + at + " to graph 1, first " + at +
         " nohead dashtype 2 lw 1.5 lc rgb '#1a1a1a' front\nset label " + tagged + ' ' +
         in_quotes(level.name, 18) + " at graph 1.01, first " + at + " left offset 0," +
         number(raised) + " textcolor rgb '#333333'\n";
}

/// The names stand right of the chart; the upper ones are raised, so that close ones stay apart.
std::string levels(const LineChart& chart) {
  std::string text;
  int tag = 10;
  for (const Level& level : chart.levels) {
    const std::string tagged = std::to_string(tag++);
    const auto lower = std::ranges::count_if(
        chart.levels, [&](const Level& other) { return other.value < level.value; });
    const double raised =
        static_cast<double>(lower) - (static_cast<double>(chart.levels.size()) - 1) / 2;
    text += level_script(level, tagged, raised);
  }
  return text;
}

/// A logarithmic axis around the positive ones of all values, with some room.
std::string log_axis_around(char axis, const std::vector<double>& values) {
  constexpr double kRoom = 1.25;
  double low = INFINITY;
  double high = 0;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > 0 ? log_axis(axis, low / kRoom, high * kRoom) : "";
}

/// Labels at the points themselves, if they are few.
std::string x_tics(const LineChart& chart) {
  constexpr std::size_t kFew = 10;
  if (chart.x_scale != Scale::log || chart.x.empty() || chart.x.size() > kFew) return {};
  std::string text = "set xtics (";
  for (const double x : chart.x) text += (text.back() == '(' ? "" : ", ") + number(x);
  return text + ")\n";
}

std::string scales(const LineChart& chart) {
  std::string text = "set autoscale xfix\n";
  if (chart.x_scale == Scale::log) text += log_axis_around('x', chart.x) + x_tics(chart);
  if (chart.y_scale == Scale::log) {
    std::vector<double> all;
    for (const Series& series : chart.series) {
      all.insert(all.end(), series.values.begin(), series.values.end());
    }
    return text + log_axis_around('y', all);
  }
  return text + (chart.from_zero ? "set yrange [0:*]\nset offsets 0, 0, graph 0.08, 0\n" : "");
}

}  // namespace

std::string line_script(const LineChart& chart) {
  std::string text = page(chart.caption) +
                     axes(chart.caption, {.with_key = chart.series.size() > 1,
                                          .with_level_names = !chart.levels.empty()}) +
                     scales(chart) + levels(chart);
  std::string plot;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    text += data_block(chart, s);
    const bool marked = chart.x.size() <= kMaxMarked;
    plot += (plot.empty() ? "plot " : ", ") + ("$data" + std::to_string(s)) + " using 1:2 with " +
            (marked ? "linespoints pt 7 ps 0.9" : "lines") + " lw 2 lc " +
            color(color_of(chart.series[s], s)) + " title " + in_quotes(chart.series[s].name, 24);
  }
  return text + (plot.empty() ? std::string(kNoData) : plot) + "\n";
}

}  // namespace cachebisect::gnuplot
