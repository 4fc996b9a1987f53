// Writes a whole spec as JSON that parses to an equal spec.
#include "cachebisect/pipeline/file/pipeline_write.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/param_json.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

using nlohmann::ordered_json;

ordered_json stage_json(const StageSpec& stage) {
  ordered_json out{{"use", stage.use}, {"name", stage.name}};
  if (stage.skip_damaged) out["on_error"] = "skip";
  spec::write_params(out, stage.params);
  return out;
}

ordered_json libtorch_json(const TrainSpec& train) {
  ordered_json optimizer{{"kind", train.optimizer.kind}, {"lr", train.optimizer.lr}};
  if (train.optimizer.kind == "sgd") optimizer["momentum"] = train.optimizer.momentum;
  optimizer["weight_decay"] = train.optimizer.weight_decay;
  ordered_json out;
  if (train.kind == TrainSpec::Kind::model) {
    out = {{"model", train.model}, {"classes", train.classes}};
  } else {
    out = {{"module", train.module}, {"inputs", train.inputs}, {"target", train.target}};
  }
  out["loss"] = train.loss;
  out["optimizer"] = std::move(optimizer);
  out["precision"] = train.precision;
  out["memory_format"] = train.memory_format;
  out["accumulate"] = train.accumulate;
  out["cudnn_benchmark"] = train.cudnn_benchmark;
  out["cuda_graph"] = train.cuda_graph;
  if (train.tf32) out["tf32"] = *train.tf32;
  if (train.threads) out["threads"] = *train.threads;
  return out;
}

ordered_json train_json(const TrainSpec& train) {
  ordered_json out;
  switch (train.kind) {
    case TrainSpec::Kind::model:
    case TrainSpec::Kind::module:
      out = libtorch_json(train);
      break;
    case TrainSpec::Kind::callback:
      out["kind"] = "callback";
      break;
    case TrainSpec::Kind::emulated:
      out["kind"] = "emulated";
      break;
    case TrainSpec::Kind::plugin:
      out["use"] = train.use;
      break;
  }
  out["sync_every"] = train.sync_every;
  out["spin"] = train.spin;
  if (train.kind == TrainSpec::Kind::plugin) spec::write_params(out, train.params);
  return out;
}

ordered_json accelerator_json(const EmulateSpec& emulate) {
  return {{"step_ms", emulate.step_ms},
          {"copy_gb_per_s", emulate.copy_gb_per_s},
          {"copy_latency_us", emulate.copy_latency_us},
          {"clock_drop", emulate.clock_drop},
          {"launches", emulate.launches},
          {"launch_us", emulate.launch_us},
          {"launch_queue", emulate.launch_queue},
          {"jitter", spec::jitter_to_json(emulate.jitter)}};
}

ordered_json storage_json(const StorageSpec& storage) {
  ordered_json out{{"latency_ms", storage.latency_ms}};
  if (storage.latency_p99_ms) out["latency_p99_ms"] = *storage.latency_p99_ms;
  out["bandwidth_mb_per_s"] = storage.bandwidth_mb_per_s;
  out["requests_per_second"] = storage.requests_per_second;
  out["burst"] = storage.burst;
  return out;
}

}  // namespace

namespace spec {

ordered_json json_of(const PipelineSpec& spec) {
  ordered_json out{{"name", spec.name}, {"seed", spec.seed}, {"batch_size", spec.batch_size}};
  if (spec.workers == kAutoWorkers) {
    out["workers"] = "auto";
  } else {
    out["workers"] = spec.workers;
  }
  out["prefetch"] = spec.prefetch;
  out["shuffle"] = spec.shuffle;
  out["drop_last"] = spec.drop_last;
  out[settings::kGroupBySize.key] = spec.group_by_size;
  out["loader"] = to_string(spec.loader);
  out["stages"] = ordered_json::array();
  for (const StageSpec& stage : spec.stages) out["stages"].push_back(stage_json(stage));
  out["train"] = train_json(spec.train);
  out["device"] = spec.device;
  if (spec.emulate) out["emulate"] = accelerator_json(*spec.emulate);
  if (spec.emulated_storage) out["emulate"]["storage"] = storage_json(*spec.emulated_storage);
  return out;
}

}  // namespace spec

std::string to_json(const PipelineSpec& spec) {
  // A path may contain bytes that are not UTF-8.
  return spec::json_of(spec).dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace cachebisect
