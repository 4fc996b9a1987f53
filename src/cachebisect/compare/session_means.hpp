// How much a figure differs between two sessions, when each session is a single draw of the
// machine's slow noise: rounds of one session resemble each other more than those of two.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/block_record.hpp"

namespace cachebisect {

/// log(seconds per sample) of the boundaries that one round of a report visited.
using RoundTaus = std::map<int, double>;

/// The rounds of a report in order of time, from the evidence among its blocks.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<RoundTaus> round_taus(
    std::span<const BlockRecord> blocks);

/// A figure of one round; empty where an arm is missing.
using RoundFigure = std::function<std::optional<double>(const RoundTaus& round)>;

/// The means of three to five consecutive parts of a session, of two rounds or more; empty below
/// six rounds with the figure.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<double> part_means(
    std::span<const RoundTaus> rounds, const RoundFigure& figure);

/// The interval of the difference b - a of two sessions: Welch's, in which the scatter of the parts
/// of a session stands for the scatter between sessions and is not divided by their number. So
/// that more rounds of one session cannot make the difference of two look certain. Empty if either
/// is empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Interval> session_difference(
    std::span<const double> a, std::span<const double> b, double confidence);

}  // namespace cachebisect
