// "train" and "emulate" of the pipeline file. Internal to pipeline/file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/pipeline/file/context.hpp"

namespace cachebisect::spec {

/// {"model": ...}, {"module": ...}, {"kind": "callback" | "emulated"} or {"use": "my.step"}.
TrainSpec parse_train(const nlohmann::json& train, const Registry& registry,
                      const Context& context);
/// The accelerator and the storage; each is empty if `emulate` says nothing of it.
void parse_emulate(const nlohmann::json& emulate, const Context& context, PipelineSpec& out);

}  // namespace cachebisect::spec
