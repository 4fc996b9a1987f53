#include "cachebisect/pipeline/file/train.hpp"

#include <algorithm>
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
    R"({"model": "lenet", ...}, {"kind": "callback"}, {"kind": "emulated"} or {"use": "my.step", ...})";

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

TrainSpec parse_model(const json& train, const SettingPath& at, const Context& context) {
  const std::vector<ParamSpec> specs = model_params();
  std::vector<std::string> keys = names_of(specs);
  keys.emplace_back("optimizer");
  check_keys(train, keys, at, context);
  const Params params = parse_params(train, specs, at, context);
  TrainSpec out;
  out.kind = TrainSpec::Kind::model;
  out.model = params.string("model");
  out.classes = params.integer("classes");
  out.loss = params.string("loss");
  out.precision = params.string("precision");
  out.sync_every = static_cast<int>(params.integer("sync_every"));
  if (params.has("threads")) out.threads = static_cast<int>(params.integer("threads"));
  if (const auto found = train.find("optimizer"); found != train.end()) {
    out.optimizer = parse_optimizer(*found, at.at("optimizer"), context);
  }
  return out;
}

TrainSpec parse_kind(const json& train, const SettingPath& at, const Context& context) {
  const std::vector<ParamSpec> specs{train_kind_param(), sync_every_param()};
  check_keys(train, names_of(specs), at, context);
  const Params params = parse_params(train, specs, at, context);
  TrainSpec out;
  out.kind =
      params.string("kind") == "emulated" ? TrainSpec::Kind::emulated : TrainSpec::Kind::callback;
  out.sync_every = static_cast<int>(params.integer("sync_every"));
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

TrainSpec parse_plugin_step(const json& train, const Registry& registry, const SettingPath& at,
                            const Context& context) {
  const TrainStepType& type = step_type(train["use"], registry, at.at("use"), context);
  const bool declares_sync =
      std::ranges::find(type.params, "sync_every", &ParamSpec::name) != type.params.end();
  std::vector<std::string> keys = names_of(type.params);
  keys.emplace_back("use");
  if (!declares_sync) keys.emplace_back("sync_every");
  check_keys(train, keys, at, context);
  TrainSpec out;
  out.kind = TrainSpec::Kind::plugin;
  out.use = type.type;
  if (!declares_sync) {
    out.sync_every = static_cast<int>(
        parse_params(train, {sync_every_param()}, at, context).integer("sync_every"));
  }
  out.params = parse_params(train, type.params, at, context);
  return out;
}

}  // namespace

TrainSpec parse_train(const json& train, const Registry& registry, const Context& context) {
  const SettingPath at = SettingPath().at("train");
  if (!train.is_object())
    context.fail(at, std::string("must be ") + kForms + ", not " + clipped(train));
  const bool model = train.contains("model");
  const bool kind = train.contains("kind");
  const bool use = train.contains("use");
  if ((model && kind) || (model && use) || (kind && use)) {
    context.fail(
        at, std::string(R"(has more than one of "model", "kind" and "use"; it must be )") + kForms);
  }
  if (use) return parse_plugin_step(train, registry, at, context);
  if (kind) return parse_kind(train, at, context);
  if (model) return parse_model(train, at, context);
  context.fail(at, std::string("does not say what to train; it must be ") + kForms);
}

EmulateSpec parse_emulate(const json& emulate, const Context& context) {
  const SettingPath at = SettingPath().at("emulate");
  check_keys(emulate, names_of(emulate_params()), at, context);
  const Params params = parse_params(emulate, emulate_params(), at, context);
  return {.step_ms = params.number("step_ms"),
          .copy_gb_per_s = params.number("copy_gb_per_s"),
          .copy_latency_us = params.number("copy_latency_us"),
          .jitter = params.jitter()};
}

}  // namespace cachebisect::spec
