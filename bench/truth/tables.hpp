// Published accuracy: the cells of the acceptance table and what stands behind them, as Markdown.
#pragma once

#include <string>
#include <vector>

#include "bench/truth/corpus_run.hpp"

namespace cachebisect::truth {

/// The acceptance table with a column a run, rates with 95% Clopper-Pearson intervals, then for
/// each run of the method itself: categories named against planted, outcomes by shape, kind,
/// workers and drop, times by stages and drop.
std::string markdown(const std::vector<ScoreFile>& runs);

}  // namespace cachebisect::truth
