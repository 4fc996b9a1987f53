// Figures and changes of a comparison as text. Internal to compare/.
#pragma once

#include <string>

#include "cachebisect/compare/comparison.hpp"

namespace cachebisect {

/// "1,234", "41%", "12.3 ms"; "-" if it is not known.
[[nodiscard]] std::string figure_text(const Estimate& figure, FigureUnit unit);
/// "-12% (-15 to -9.3%)"; of shares "+3.1 points (2.5 to 3.7)"; "~ (...)" if the interval contains
/// zero; "-" if the change is not known, and without an interval the change in parentheses.
[[nodiscard]] std::string change_text(const ComparedFigure& figure);
/// The interval alone; empty if there is none.
[[nodiscard]] std::string interval_text(const ComparedFigure& figure);
/// The change alone: "-12%", "+3.1 points", "~", "-".
[[nodiscard]] std::string short_change_text(const ComparedFigure& figure);

}  // namespace cachebisect
