// What a trace says of the run that it shows.
#pragma once

#include "cachebisect/format/json_values.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// The member `cachebisect` of a trace: the version of the tool, and what was run.
[[nodiscard]] json_values::Json trace_facts(const ChainDescription& chain);

}  // namespace cachebisect
