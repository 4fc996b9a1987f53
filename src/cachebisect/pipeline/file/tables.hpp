// What the pipeline file's own objects take, declared as stages declare theirs: the checks and the
// schema come from here. Internal to the pipeline floor.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::spec {

/// Top level, but for `workers`, `device`, `stages`, `train` and `emulate`.
std::vector<ParamSpec> top_params();
/// Every key of the top level.
std::vector<std::string> top_keys();
/// `workers` when it is not "auto".
ParamSpec workers_param();

/// `train` with a built-in model, but for `optimizer`.
std::vector<ParamSpec> model_params();
/// `train.optimizer` of a kind; all have `kind`.
std::vector<ParamSpec> optimizer_params(const std::string& kind);
/// sgd, adam, adamw.
const std::vector<std::string>& optimizer_kinds();
/// What every kind of `train` takes.
ParamSpec sync_every_param();
/// callback and emulated, for `train.kind`.
ParamSpec train_kind_param();

/// `emulate`.
std::vector<ParamSpec> emulate_params();
/// Of `jitter`.
std::vector<ParamSpec> jitter_params();

/// `on_error` of the stages that meet damaged samples.
ParamSpec on_error_param();
/// `name` of a stage.
ParamSpec stage_name_param();

inline constexpr int kMaxPrefetch = 64;
inline constexpr int kMaxWorkers = 1024;
inline constexpr std::size_t kMaxStages = 256;

/// Accepted by `device`.
inline constexpr const char* kDevicePattern = "^(auto|cpu|emulated|cuda(:[0-9]{1,3})?)$";
/// Accepted by a stage's `name`: [a-z0-9_-]+ with one character that is no digit.
inline constexpr const char* kNamePattern = "^[0-9]*[a-z_-][a-z0-9_-]*$";
inline constexpr std::size_t kMaxNameLength = 64;

}  // namespace cachebisect::spec
