// Parameters from JSON, to JSON, and as JSON Schema, all from their declarations. Internal to the
// pipeline floor.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/pipeline/file/context.hpp"

namespace cachebisect::spec {

/// Reads the declared parameters from `object`, checks them and fills defaults in. Does not look at
/// other keys: see check_keys().
Params parse_params(const nlohmann::json& object, const std::vector<ParamSpec>& specs,
                    const Pointer& at, const Context& context);

/// {"kind", "cv"}; fails naming what is accepted.
Jitter parse_jitter(const nlohmann::json& value, const Pointer& at, const Context& context);
nlohmann::ordered_json jitter_to_json(const Jitter& jitter);

/// Adds every value to `object`.
void write_params(nlohmann::ordered_json& object, const Params& params);

nlohmann::ordered_json param_schema(const ParamSpec& spec);
/// {"type": "object", "properties", "required", "additionalProperties": false}
nlohmann::ordered_json params_schema(const std::vector<ParamSpec>& specs);

/// The declared names, in order.
std::vector<std::string> names_of(const std::vector<ParamSpec>& specs);

}  // namespace cachebisect::spec
