// Parameters from JSON, to JSON, and as JSON Schema, all from their declarations. Internal to
// pipeline/file.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/pipeline/file/context.hpp"

namespace cachebisect::spec {

/// Reads the declared parameters from `object`, checks them and fills in defaults. Ignores other
/// keys: see check_keys().
Params parse_params(const nlohmann::json& object, const std::vector<ParamSpec>& specs,
                    const SettingPath& at, const Context& context);

/// Reads {"kind", "cv"}; fails naming what is accepted.
Jitter parse_jitter(const nlohmann::json& value, const SettingPath& at, const Context& context);
nlohmann::ordered_json jitter_to_json(const Jitter& jitter);

/// Adds all values to `object`.
void write_params(nlohmann::ordered_json& object, const Params& params);

nlohmann::ordered_json param_schema(const ParamSpec& spec);
/// {"type": "object", "properties", "required", "additionalProperties": false}
nlohmann::ordered_json params_schema(const std::vector<ParamSpec>& specs);

/// The declared names, in order.
std::vector<std::string> names_of(const std::vector<ParamSpec>& specs);

}  // namespace cachebisect::spec
