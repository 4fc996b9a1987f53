// Things to try: what the verdict, the stage's category and the probes suggest.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"

namespace cachebisect {

/// For `flat` only the training step is advised on; nothing for `anomaly` and `inconclusive`.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Proposal> find_proposals(
    const Measurements& measured, const Waterfall& waterfall, const Verdict& verdict);

/// The arm that runs a remedy's edits, with the names of these settings. Empty if it has
/// none, or if one cannot be set by name: a stage added or removed, the batch size of a program in
/// Python.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Arm> arm_of(const Remedy& remedy,
                                                                 const JobSettings& settings);

/// Puts the lines of code to change in place of the edits and flags of a pipeline file. A remedy
/// that changes no setting has the line that the adapter gives for it, if it does.
CACHEBISECT_INTERNAL_API void write_in_code(Remedy& remedy, const JobSettings& settings);

/// So many are shown, and run by --verify: a list that is read to its end. `tune` tries the others
/// too.
inline constexpr std::size_t kMostShownRemedies = 3;
/// A view of the first of sorted remedies.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::span<const Remedy> first_remedies(
    const std::vector<Remedy>& remedies);

/// True for remedies that change what is trained.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_semantic(std::string_view id) noexcept;

/// Leaves out those of which not even the upper end of the prediction is a gain, at `live`
/// samples/s, unless they were measured.
CACHEBISECT_INTERNAL_API void leave_out_without_gain(double live, std::vector<Remedy>& remedies);

/// What was run and gains comes first, then what is predicted to gain, each by the lower end of its
/// interval; then what nobody knows the gain of, or what changes training; then what may lose.
CACHEBISECT_INTERNAL_API void sort_by_gain(std::vector<Remedy>& remedies);

/// The remedies, so sorted, with the gains that are predicted and those that were measured.
/// `forecast` may be empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Remedy> find_remedies(
    const Measurements& measured, const Waterfall& waterfall, const Verdict& verdict,
    const std::optional<Forecast>& forecast);

}  // namespace cachebisect
