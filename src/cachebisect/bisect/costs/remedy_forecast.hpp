// What remedies would gain by the fitted law.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/fitted_law.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// The change that a remedy makes to the law's costs; none where that is not known. What a stage
/// costs on the device after it was moved there is taken to be nothing.
[[nodiscard]] CACHEBISECT_API std::optional<LawChanges> changes_of(const Remedy& remedy,
                                                                   const Report& report);

/// Sets Remedy::predicted, samples/s gained, where a law could be fitted and the change is known.
CACHEBISECT_API void predict_remedies(Report& report);

}  // namespace cachebisect
