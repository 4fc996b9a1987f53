// What the text and the Markdown of a comparison say alike. Internal to compare/. The texts contain
// names as they are: printable() or an escape makes them safe.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/compare/comparison.hpp"

namespace cachebisect {

/// "main.json: cifar, device cpu, batch 128, 2 workers".
[[nodiscard]] std::string job_line(const ComparedJob& job);
/// How the two were measured.
[[nodiscard]] std::string method_line(const Comparison& comparison);
/// "crop: drop" of stages.crop.drop.
[[nodiscard]] std::string figure_name(const ComparedFigure& figure);
/// Whether a table has a row for it: either value is known.
[[nodiscard]] bool is_shown(const ComparedFigure& figure);
/// What makes the comparison less certain than it looks.
[[nodiscard]] std::vector<std::string> remarks(const Comparison& comparison);
/// "gate live<-5%: fired, -12% (-15 to -9.3%)".
[[nodiscard]] std::string gate_line(const GateResult& gate);

}  // namespace cachebisect
