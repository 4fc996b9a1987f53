// The parameters of the pipeline file's own objects, declared like those of stages: the checks and
// the schema are derived from them. Internal to pipeline/file.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::spec {

/// The top level, except `workers`, `device`, `stages`, `train` and `emulate`.
std::vector<ParamSpec> top_params();
/// Every key of the top level.
std::vector<std::string> top_keys();
/// `workers` if it is not "auto".
ParamSpec workers_param();

/// `train` with a built-in model, except `optimizer`.
std::vector<ParamSpec> model_params();
/// `train` with a module from a file, except `optimizer`.
std::vector<ParamSpec> module_params();
/// `train.optimizer` of a kind, `kind` itself first.
std::vector<ParamSpec> optimizer_params(const std::string& kind);
/// sgd, adam, adamw.
const std::vector<std::string>& optimizer_kinds();
/// `sync_every` and `spin`, common to all forms of `train`.
std::vector<ParamSpec> wait_params();
/// `train.kind`: callback or emulated.
ParamSpec train_kind_param();

/// `emulate`, except `storage`.
std::vector<ParamSpec> emulate_params();
/// `emulate.storage`.
std::vector<ParamSpec> storage_params();
/// `jitter`.
std::vector<ParamSpec> jitter_params();

/// `on_error` of the stages that can meet damaged samples.
ParamSpec on_error_param();
/// `name` of a stage.
ParamSpec stage_name_param();

inline constexpr std::size_t kMaxStages = 256;

/// Accepted by a stage's `name`: [a-z0-9_-]+ with a character that is not a digit.
inline constexpr const char* kNamePattern = "^[0-9]*[a-z_-][a-z0-9_-]*$";
inline constexpr std::size_t kMaxNameLength = 64;

}  // namespace cachebisect::spec
