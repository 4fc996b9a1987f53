// The version of the JSON that this tool writes.
#pragma once

#include "cachebisect/format/json_value.hpp"

namespace cachebisect {

inline constexpr int kReportSchemaVersion = 1;

/// Throws Error(usage) unless the member "schema_version" is the one that is written now.
void check_schema_version(const JsonValue& document);

}  // namespace cachebisect
