// What a picture shows: plain data, drawn by draw_png().
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cachebisect {

/// Texts around a chart. Any bytes are allowed; long texts are cut off.
struct Caption {
  std::string title;
  std::string subtitle{};  ///< smaller, below it
  std::string x_label{};   ///< with the unit
  std::string y_label{};   ///< with the unit
};

/// One named row of numbers; NaN leaves a gap.
struct Series {
  std::string name;
  std::vector<double> values;
  std::optional<int> color{};  ///< of the palette, from 0; empty: by the order of the series
};

/// A horizontal dashed line across the chart.
struct Level {
  std::string name;
  double value = 0;
};

enum class Scale { linear, log };

/// One bar, or group of bars, per position.
struct BarChart {
  Caption caption;
  std::vector<Series> series;             ///< all as long as there are positions
  bool stacked = true;                    ///< else side by side
  std::vector<std::string> categories{};  ///< names of the positions; empty: numbered
  double first = 1;                       ///< number of the first position
  double step = 1;                        ///< from one position to the next
  Scale y_scale = Scale::linear;          ///< log: bars are not stacked
};

struct LineChart {
  Caption caption;
  std::vector<double> x;
  std::vector<Series> series;  ///< as long as x
  std::vector<Level> levels{};
  Scale x_scale = Scale::linear;
  Scale y_scale = Scale::linear;
  bool from_zero = true;  ///< the y axis begins at 0, unless it is logarithmic
};

/// Shares of a whole, clockwise from the top.
struct PieChart {
  struct Slice {
    std::string name;
    double value = 0;            ///< in any unit; at least 0
    std::string text{};          ///< what the legend says of it: "12.3 ms"
    std::optional<int> color{};  ///< as in Series
  };
  Caption caption;
  std::vector<Slice> slices;
};

using Picture = std::variant<BarChart, LineChart, PieChart>;

}  // namespace cachebisect
