// The gnuplot script of bar charts.
#include <algorithm>
#include <cmath>

#include "cachebisect/format/picture/gnuplot_script.hpp"
#include "cachebisect/format/picture/gnuplot_words.hpp"

namespace cachebisect::gnuplot {
namespace {

constexpr double kBarShare = 0.86;  ///< of the distance between positions
constexpr std::size_t kGaplessBars = 60;

/// One bar, or the part of a stacked one.
struct Box {
  double left = 0;
  double right = 0;
  double low = 0;
  double high = 0;
};

std::size_t positions(const BarChart& chart) {
  return chart.series.empty() ? 0 : chart.series.front().values.size();
}

double place(const BarChart& chart, std::size_t position) {
  return chart.first + chart.step * static_cast<double>(position);
}

double finite_or_zero(double value) { return std::isfinite(value) ? value : 0; }

/// Where logarithmic bars begin and the highest one ends: the power of ten below the smallest
/// positive value, and the largest value.
std::pair<double, double> log_range(const BarChart& chart) {
  double least = INFINITY;
  double most = 0;
  for (const Series& series : chart.series) {
    for (const double value : series.values) {
      if (!(value > 0) || !std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  if (most == 0) return {1, 10};
  return {std::pow(10, std::ceil(std::log10(least)) - 1), most};
}

/// All boxes of series `s`.
std::vector<Box> boxes(const BarChart& chart, std::size_t s) {
  const bool stacked = chart.stacked && chart.y_scale == Scale::linear;
  // Many bars touch, so that no pattern of gaps is mistaken for data.
  const double share = positions(chart) > kGaplessBars ? 1 : kBarShare;
  const double whole = share * chart.step;
  const double width = stacked ? whole : whole / static_cast<double>(chart.series.size());
  const double bottom = chart.y_scale == Scale::log ? log_range(chart).first : 0;
  std::vector<Box> all;
  for (std::size_t i = 0; i < positions(chart); ++i) {
    const double value = chart.series[s].values[i];
    const double shift = stacked ? 0 : width * static_cast<double>(s);
    const double left = place(chart, i) - whole / 2 + shift;
    double low = bottom;
    for (std::size_t below = 0; stacked && below < s; ++below) {
      low += finite_or_zero(chart.series[below].values[i]);
    }
    const double high = stacked ? low + finite_or_zero(value) : value;
    if (std::isfinite(high) && high > low) all.push_back({left, left + width, low, high});
  }
  return all;
}

std::string data_block(const BarChart& chart, std::size_t s) {
  std::string text = "$data" + std::to_string(s) + " << END\n";
  for (const Box& box : boxes(chart, s)) {
    for (const double value :
         {(box.left + box.right) / 2, box.low, box.left, box.right, box.low, box.high}) {
      text += number(value) + ' ';
    }
    text += '\n';
  }
  return text + "END\n";
}

std::string category_tics(const BarChart& chart) {
  if (chart.categories.empty()) return {};
  const std::size_t columns = std::max<std::size_t>(6, 110 / chart.categories.size());
  std::string text = "set xtics (";
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    text += (i == 0 ? "" : ", ") + tic_label(chart.categories[i], columns) + ' ' +
            number(place(chart, i));
  }
  return text + ") scale 0\n";
}

std::string ranges(const BarChart& chart) {
  const double half = chart.step * 0.6;
  std::string text = "set xrange [" + number(chart.first - half) + ":" +
                     number(place(chart, std::max<std::size_t>(positions(chart), 1) - 1) + half) +
                     "]\n";
  if (chart.y_scale == Scale::log) {
    constexpr double kAbove = 1.3;
    const auto [low, high] = log_range(chart);
    return text + log_axis('y', low, kAbove * high);
  }
  return text + "set yrange [0:*]\n";
}

}  // namespace

std::string bar_script(const BarChart& chart) {
  std::string text = page(chart.caption) +
                     axes(chart.caption, {.with_key = chart.series.size() > 1}) +
                     category_tics(chart) + ranges(chart) + "set style fill solid noborder\n";
  std::string plot;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const std::string data = "$data" + std::to_string(s);
    if (boxes(chart, s).empty()) continue;
    text += data_block(chart, s);
    plot += (plot.empty() ? "plot " : ", ") + data + " using 1:2:3:4:5:6 with boxxyerror lc " +
            color(color_of(chart.series[s], s)) + " title " + in_quotes(chart.series[s].name, 24);
  }
  return text + (plot.empty() ? std::string(kNoData) : plot) + "\n";
}

}  // namespace cachebisect::gnuplot
