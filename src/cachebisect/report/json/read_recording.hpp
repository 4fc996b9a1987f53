// The recording of a run in its JSON report.
#pragma once

#include <memory>

#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/json_value.hpp"

namespace cachebisect {

/// `value` is the member "recording", `report` the rest of the document. Null if there is none.
/// Throws Error(usage) that names the place of what does not fit the chain.
[[nodiscard]] std::shared_ptr<const Measurements> read_recording(const JsonValue& value,
                                                                 const Report& report);

}  // namespace cachebisect
