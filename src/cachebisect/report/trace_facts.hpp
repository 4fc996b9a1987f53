// What a trace says of the run that it shows.
#pragma once

#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/report/json_values.hpp"

namespace cachebisect {

/// The member `cachebisect` of a trace: the version of the tool, and what was run.
[[nodiscard]] json_values::Json trace_facts(const ChainDescription& chain);

}  // namespace cachebisect
