#include "cachebisect/pipeline/file/train.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/pipeline/file/param_json.hpp"
#include "cachebisect/pipeline/file/tables.hpp"

namespace cachebisect::spec {
namespace {

using nlohmann::json;

constexpr const char* kForms =
    R"({"model": "lenet", ...}, {"module": "model.pt", ...}, {"kind": "callback"}, {"kind": "emulated"} or {"use": "my.step", ...})";
constexpr std::array<const char*, 4> kFormKeys{"model", "module", "kind", "use"};

OptimizerSpec parse_optimizer(const json& optimizer, const SettingPath& at,
                              const Context& context) {
  if (!optimizer.is_object())
    context.fail(at, "must be an object {\"kind\": ...}, not " + clipped(optimizer));
  OptimizerSpec out;
  out.kind = parse_params(optimizer, {optimizer_params("").front()}, at, context).string("kind");
  const std::vector<ParamSpec> specs = optimizer_params(out.kind);
  check_keys(optimizer, names_of(specs), at, context);
  const Params params = parse_params(optimizer, specs, at, context);
  out.lr = params.number("lr");
  out.weight_decay = params.number("weight_decay");
  if (params.has("momentum")) out.momentum = params.number("momentum");
  return out;
}

void set_waits(const Params& params, TrainSpec& out) {
  out.sync_every = static_cast<int>(params.integer("sync_every"));
  out.spin = params.boolean("spin");
}

/// What every form that runs in LibTorch takes.
TrainSpec parse_arithmetic(const json& train, const Params& params, const SettingPath& at,
                           const Context& context) {
  TrainSpec out;
  out.loss = params.string("loss");
  out.precision = params.string("precision");
  out.memory_format = params.string("memory_format");
  out.accumulate = static_cast<int>(params.integer("accumulate"));
  out.cudnn_benchmark = params.boolean("cudnn_benchmark");
  out.cuda_graph = params.boolean("cuda_graph");
  if (params.has("tf32")) out.tf32 = params.boolean("tf32");
  set_waits(params, out);
  if (params.has("threads")) out.threads = static_cast<int>(params.integer("threads"));
  if (const auto found = train.find("optimizer"); found != train.end()) {
    out.optimizer = parse_optimizer(*found, at.at("optimizer"), context);
  }
  return out;
}

Params parse_libtorch_params(const json& train, const std::vector<ParamSpec>& specs,
                             const SettingPath& at, const Context& context) {
  std::vector<std::string> keys = names_of(specs);
  keys.emplace_back("optimizer");
  check_keys(train, keys, at, context);
  return parse_params(train, specs, at, context);
}

TrainSpec parse_model(const json& train, const SettingPath& at, const Context& context) {
  const Params params = parse_libtorch_params(train, model_params(), at, context);
  TrainSpec out = parse_arithmetic(train, params, at, context);
  out.kind = TrainSpec::Kind::model;
  out.model = params.string("model");
  out.classes = params.integer("classes");
  return out;
}

TrainSpec parse_module(const json& train, const SettingPath& at, const Context& context) {
  const Params params = parse_libtorch_params(train, module_params(), at, context);
  TrainSpec out = parse_arithmetic(train, params, at, context);
  out.kind = TrainSpec::Kind::module;
  out.module = params.string("module");
  out.inputs = params.strings("inputs");
  out.target = params.string("target");
  return out;
}

TrainSpec parse_kind(const json& train, const SettingPath& at, const Context& context) {
  std::vector<ParamSpec> specs = wait_params();
  specs.push_back(train_kind_param());
  check_keys(train, names_of(specs), at, context);
  const Params params = parse_params(train, specs, at, context);
  TrainSpec out;
  out.kind =
      params.string("kind") == "emulated" ? TrainSpec::Kind::emulated : TrainSpec::Kind::callback;
  set_waits(params, out);
  return out;
}

const TrainStepType& step_type(const json& use, const Registry& registry, const SettingPath& at,
                               const Context& context) {
  if (!use.is_string())
    context.fail(at, "must be a training step's type, a string, not " + clipped(use));
  try {
    return registry.train_step(use.get_ref<const std::string&>());
  } catch (const Error& error) {
    context.fail(
        at, std::string("is an ") + error.what() + "; steps come from plugins (--plugin LIB.so)");
  }
}

/// The parameters of wait_params() that the step does not declare: those that it declares, it reads
/// itself.
std::vector<ParamSpec> undeclared_waits(const TrainStepType& type) {
  std::vector<ParamSpec> waits = wait_params();
  std::erase_if(waits, [&](const ParamSpec& wait) {
    return std::ranges::find(type.params, wait.name, &ParamSpec::name) != type.params.end();
  });
  return waits;
}

TrainSpec parse_plugin_step(const json& train, const Registry& registry, const SettingPath& at,
                            const Context& context) {
  const TrainStepType& type = step_type(train["use"], registry, at.at("use"), context);
  const std::vector<ParamSpec> waits = undeclared_waits(type);
  std::vector<std::string> keys = names_of(type.params);
  keys.emplace_back("use");
  for (const ParamSpec& wait : waits) keys.push_back(wait.name);
  check_keys(train, keys, at, context);
  TrainSpec out;
  out.kind = TrainSpec::Kind::plugin;
  out.use = type.type;
  const Params given = parse_params(train, waits, at, context);
  if (given.has("sync_every")) out.sync_every = static_cast<int>(given.integer("sync_every"));
  if (given.has("spin")) out.spin = given.boolean("spin");
  out.params = parse_params(train, type.params, at, context);
  return out;
}

}  // namespace

TrainSpec parse_train(const json& train, const Registry& registry, const Context& context) {
  const SettingPath at = SettingPath().at("train");
  if (!train.is_object())
    context.fail(at, std::string("must be ") + kForms + ", not " + clipped(train));
  const auto forms =
      std::ranges::count_if(kFormKeys, [&](const char* key) { return train.contains(key); });
  if (forms > 1) {
    context.fail(
        at,
        std::string(R"(has more than one of "model", "module", "kind" and "use"; it must be )") +
            kForms);
  }
  if (train.contains("use")) return parse_plugin_step(train, registry, at, context);
  if (train.contains("kind")) return parse_kind(train, at, context);
  if (train.contains("model")) return parse_model(train, at, context);
  if (train.contains("module")) return parse_module(train, at, context);
  context.fail(at, std::string("does not say what to train; it must be ") + kForms);
}

}  // namespace cachebisect::spec
