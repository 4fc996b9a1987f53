// The published accuracy on habits as Markdown tables.
#pragma once

#include <string>
#include <vector>

#include "bench/habits/run.hpp"

namespace cachebisect::habits {

/// For each file, one row per habit and one for all: right, inconclusive (and how many of them name
/// the cause), wrong, coverage, time to the verdict; rates with 95% Clopper-Pearson intervals. Then
/// every wrong verdict, with its sentence.
std::string markdown(const std::vector<HabitFile>& files);

}  // namespace cachebisect::habits
