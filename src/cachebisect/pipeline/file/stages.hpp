// The "stages" list of the pipeline file. Internal to the pipeline floor.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/pipeline/file/context.hpp"

namespace cachebisect::spec {

/// The name of every stage, as given or by default, unique. Takes any JSON: what is no stage object
/// has an empty name.
std::vector<std::string> stage_names(const nlohmann::json& stages);

/// Fails at the first stage that is not right.
std::vector<StageSpec> parse_stages(const nlohmann::json& stages, const Registry& registry,
                                    const Context& context);

/// One stage object, its type known; the name is left empty when it gives none.
StageSpec parse_stage_object(const nlohmann::json& object, const StageType& type, const Pointer& at,
                             const Context& context);

/// True for the kinds that meet damaged samples and so take `on_error`.
bool takes_on_error(const StageType& type) noexcept;

}  // namespace cachebisect::spec
