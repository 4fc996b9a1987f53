// The parts that gnuplot scripts of all pictures share.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/format/picture/picture.hpp"

namespace cachebisect::gnuplot {

/// A string literal: one line, at most `max_columns` characters, and the last one of "..." if it
/// was cut off.
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t max_columns = 90);
/// A label of a tic, in which a percent sign would begin a format.
[[nodiscard]] std::string tic_label(std::string_view text, std::size_t max_columns);
/// With nine significant digits.
[[nodiscard]] std::string number(double value);
/// Draws the axes alone.
inline constexpr std::string_view kNoData = "plot 5 with lines lc rgb '#ffffff' notitle";
/// "rgb '#0072B2'": of Okabe and Ito's palette ("Color Universal Design", 2008), repeated from the
/// ninth on.
[[nodiscard]] std::string color(int index);
[[nodiscard]] int color_of(const Series& series, std::size_t position);

/// Terminal, fonts, title and subtitle.
[[nodiscard]] std::string page(const Caption& caption);
struct AxesStyle {
  bool with_key = false;          ///< a legend above the chart
  bool with_level_names = false;  ///< room for them on the right
};
/// Borders, grid, labels of the axes, legend.
[[nodiscard]] std::string axes(const Caption& caption, const AxesStyle& style);

/// A logarithmic axis, 'x' or 'y', that shows `low` to `high`, with labels at 1, 2 and 5 times the
/// powers of ten if it is short. Both must be positive.
[[nodiscard]] std::string log_axis(char axis, double low, double high);

}  // namespace cachebisect::gnuplot
