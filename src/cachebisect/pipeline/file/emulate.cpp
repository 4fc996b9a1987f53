// `emulate`: the accelerator and the storage that are not there.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/pipeline/file/param_json.hpp"
#include "cachebisect/pipeline/file/tables.hpp"
#include "cachebisect/pipeline/file/train.hpp"

namespace cachebisect::spec {
namespace {

using nlohmann::json;

constexpr const char* kStorage = "storage";

EmulateSpec parse_accelerator(const json& emulate, const SettingPath& at, const Context& context) {
  const Params params = parse_params(emulate, emulate_params(), at, context);
  return {.step_ms = params.number("step_ms"),
          .copy_gb_per_s = params.number("copy_gb_per_s"),
          .copy_latency_us = params.number("copy_latency_us"),
          .clock_drop = params.number("clock_drop"),
          .launches = static_cast<int>(params.integer("launches")),
          .launch_us = params.number("launch_us"),
          .launch_queue = static_cast<int>(params.integer("launch_queue")),
          .jitter = params.jitter()};
}

void check_tail(const StorageSpec& storage, const SettingPath& at, const Context& context) {
  if (!storage.latency_p99_ms) return;
  const double median = storage.latency_ms;
  const double p99 = *storage.latency_p99_ms;
  if (median > 0 ? p99 >= median : p99 == 0) return;
  const std::string right = median > 0 ? "at least latency_ms (" + format_exact(median) + ")"
                                       : std::string("0, as latency_ms is");
  context.fail(at.at("latency_p99_ms"), "must be " + right + ", not " + format_exact(p99));
}

StorageSpec parse_storage(const json& storage, const SettingPath& at, const Context& context) {
  check_keys(storage, names_of(storage_params()), at, context);
  const Params params = parse_params(storage, storage_params(), at, context);
  StorageSpec out{.latency_ms = params.number("latency_ms"),
                  .latency_p99_ms = {},
                  .bandwidth_mb_per_s = params.number("bandwidth_mb_per_s"),
                  .requests_per_second = params.number("requests_per_second"),
                  .burst = params.number("burst")};
  if (params.has("latency_p99_ms")) out.latency_p99_ms = params.number("latency_p99_ms");
  check_tail(out, at, context);
  return out;
}

}  // namespace

void parse_emulate(const json& emulate, const Context& context, PipelineSpec& out) {
  const SettingPath at = SettingPath().at("emulate");
  std::vector<std::string> keys = names_of(emulate_params());
  keys.emplace_back(kStorage);
  check_keys(emulate, keys, at, context);
  const auto storage = emulate.find(kStorage);
  if (storage != emulate.end()) {
    out.emulated_storage = parse_storage(*storage, at.at(kStorage), context);
    if (emulate.size() == 1) return;
  }
  out.emulate = parse_accelerator(emulate, at, context);
}

}  // namespace cachebisect::spec
