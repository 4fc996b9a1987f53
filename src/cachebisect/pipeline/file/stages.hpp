// The "stages" list of the pipeline file. Internal to pipeline/file.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/pipeline/file/context.hpp"

namespace cachebisect::spec {

/// The unique name of every stage, given or by default. Accepts any JSON: an item that is not a
/// stage object has an empty name.
std::vector<std::string> stage_names(const nlohmann::json& stages);

/// Fails at the first invalid stage.
std::vector<StageSpec> parse_stages(const nlohmann::json& stages, const Registry& registry,
                                    const Context& context);

/// One stage object of a known type; the name is left empty if it is not given.
StageSpec parse_stage_object(const nlohmann::json& object, const StageType& type,
                             const SettingPath& at, const Context& context);

/// True for the kinds that can meet damaged samples and so take `on_error`.
bool takes_on_error(const StageType& type) noexcept;

}  // namespace cachebisect::spec
