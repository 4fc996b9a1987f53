// The gnuplot script of pie charts.
#include <cmath>
#include <numbers>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/picture/gnuplot_script.hpp"
#include "cachebisect/format/picture/gnuplot_words.hpp"

namespace cachebisect::gnuplot {
namespace {

constexpr double kMinLabelled = 0.06;  ///< share of a slice whose share is written on it
constexpr double kTop = 90;            ///< degrees

std::string at(double x, double y) { return number(x) + "," + number(y); }

double total_of(const PieChart& chart) {
  double total = 0;
  for (const PieChart::Slice& slice : chart.slices) total += slice.value;
  return total;
}

int color_of(const PieChart::Slice& slice, std::size_t position) {
  return slice.color.value_or(static_cast<int>(position));
}

/// Clockwise from `begun`, a share of the circle.
std::string arc(std::size_t i, double begun, double share, const std::string& fill) {
  const double from = kTop - 360 * (begun + share);
  return "set object " + std::to_string(i + 1) + " circle at 0,0 size 1 arc [" + number(from) +
         ":" + number(kTop - 360 * begun) + "] fillcolor " + fill +
         " fillstyle solid border lc rgb '#ffffff' lw 2\n";
}

std::string share_label(std::size_t i, double begun, double share) {
  if (share < kMinLabelled) return {};
  constexpr double kRadius = 0.68;
  const double angle = (kTop / 360 - begun - share / 2) * 2 * std::numbers::pi;
  return "set label " + std::to_string(100 + i) + ' ' + in_quotes(format_percent(share)) + " at " +
         at(kRadius * std::cos(angle), kRadius * std::sin(angle)) +
         " center font 'sans:Bold,15' textcolor rgb '#ffffff' front\n";
}

/// A square of the slice's colour, its name, share and text.
std::string legend_row(const PieChart::Slice& slice, std::size_t i, double share,
                       std::size_t color_index) {
  constexpr double kLeft = 1.45;
  constexpr double kRow = 0.24;
  const double y = 0.8 - kRow * static_cast<double>(i);
  const std::string square = std::to_string(200 + i);
  const auto label = [&](std::size_t column, double x, const std::string& text, const char* side) {
    return "set label " + std::to_string(1000 * column + 200 + i) + ' ' + text + " at " + at(x, y) +
           ' ' + side + " textcolor rgb '#1a1a1a'\n";
  };
  return "set object " + square + " rectangle center " + at(kLeft, y) +
         " size 0.11,0.11 fillcolor " + color(static_cast<int>(color_index)) +
         " fillstyle solid noborder\n" + label(1, kLeft + 0.14, in_quotes(slice.name, 20), "left") +
         label(2, kLeft + 1.35, in_quotes(format_percent(share)), "right") +
         label(3, kLeft + 1.9, in_quotes(slice.text, 16), "right");
}

}  // namespace

std::string pie_script(const PieChart& chart) {
  std::string text = page(chart.caption) +
                     "unset border\nunset tics\nset key off\n"
                     "set lmargin at screen 0.03\nset rmargin at screen 0.97\n"
                     "set bmargin at screen 0.04\nset tmargin at screen 0.83\n"
                     "set xrange [-1.05:3.45]\nset yrange [-1.05:1.05]\nset size ratio -1\n";
  const double total = total_of(chart);
  double begun = 0;
  for (std::size_t i = 0; i < chart.slices.size() && total > 0; ++i) {
    const PieChart::Slice& slice = chart.slices[i];
    const double share = slice.value / total;
    const int index = color_of(slice, i);
    if (share > 0) text += arc(i, begun, share, color(index)) + share_label(i, begun, share);
    text += legend_row(slice, i, share, static_cast<std::size_t>(index));
    begun += share;
  }
  return text + "plot -10 notitle\n";
}

}  // namespace cachebisect::gnuplot
