// The published accuracy as Markdown tables.
#pragma once

#include <string>
#include <vector>

#include "bench/truth/corpus_run.hpp"

namespace cachebisect::truth {

/// The acceptance table, with one column per run and 95% Clopper-Pearson intervals of rates. Then
/// for each run of cachebisect: categories named against planted, outcomes by shape, kind, workers
/// and drop, and times by stages and drop.
std::string markdown(const std::vector<ScoreFile>& runs);

}  // namespace cachebisect::truth
