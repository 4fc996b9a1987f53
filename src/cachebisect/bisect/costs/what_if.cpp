// Prediction and arm of each form of what-if.
#include "cachebisect/bisect/costs/what_if.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/costs/cache_changes.hpp"
#include "cachebisect/bisect/costs/cache_file.hpp"
#include "cachebisect/bisect/costs/device_changes.hpp"
#include "cachebisect/bisect/costs/order_changes.hpp"
#include "cachebisect/bisect/costs/sample_stages.hpp"
#include "cachebisect/bisect/costs/unused_changes.hpp"
#include "cachebisect/bisect/costs/worker_changes.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::json;

CostChanges changes_of(const WhatIf& what_if, const ChainDescription& chain) {
  if (what_if.kind == WhatIf::Kind::workers) {
    return changed_workers(chain, static_cast<int>(what_if.count));
  }
  CostChanges changes;
  if (what_if.kind == WhatIf::Kind::step) changes.step_factor = what_if.factor;
  if (what_if.kind == WhatIf::Kind::stage) {
    changes.stages = {{.stage = what_if.stage, .factor = what_if.factor}};
  }
  return changes;
}

/// A stage that costs nothing. Run, one of the host serves samples from its cache, which may take
/// longer than to make them; those that follow read them from memory, and no longer from the caches
/// of the CPU.
void predict_free(const WhatIf& what_if, const ChainDescription& chain, const Forecast& forecast,
                  WhatIfResult& out) {
  const StageDescription& stage = chain.stages[what_if.stage];
  CostChanges changes{.stages = {{.stage = what_if.stage, .factor = 0}}, .added_within = 1};
  out.predicted = forecast.after(changes);
  if (!runs_on_host(stage.category)) return;
  const std::vector<double>& serving = forecast.costs().serve_seconds;
  const std::size_t behind = what_if.stage + 1;
  changes.added_seconds = std::max(behind < serving.size() ? serving[behind] : 0.0,
                                   stage.output_bytes.value_or(0) / kMemorySpeed);
  const Estimate run = forecast.after(changes);
  Interval& within = *out.predicted.interval;
  within.low = std::min(within.low, run.interval->low);
  if (1 - *run.value / *out.predicted.value < kNegligible) return;
  out.add_note("run, its samples come from memory, which takes up to about " +
               short_duration(changes.added_seconds) + " per sample");
}

void predict_batch_size(const WhatIf& what_if, const ChainDescription& chain,
                        const Forecast& forecast, WhatIfResult& out) {
  const CostChanges constant{
      .workers = {},
      .stages = {},
      .step_factor = static_cast<double>(chain.batch_size) / static_cast<double>(what_if.count)};
  if (chain.device_kind == DeviceKind::emulated) {
    out.predicted = forecast.after(constant);
    out.note = "an emulated step takes the same time whatever the batch";
    return;
  }
  out.predicted = forecast.between({}, constant);
  out.note =
      "what a step takes with another batch is not known: from as long as now to in proportion";
}

/// Steady costs need no queue, so only what is now lost to waiting can be gained.
void predict_prefetch(const WhatIf& what_if, const ChainDescription& chain,
                      const Forecast& forecast, WhatIfResult& out) {
  const double live = *forecast.live().value;
  Estimate& predicted = out.predicted;
  predicted = forecast.after({});
  predicted.value = live;
  const JobSetting* const setting = chain.settings.at(settings::kPrefetch.key);
  const bool per_worker = setting != nullptr && setting->per_worker;
  const std::int64_t batches = what_if.count * (per_worker ? chain.workers : 1);
  if (batches > chain.ring_prefetch) {
    predicted.interval->high = std::max(predicted.interval->high, forecast.fully_queued());
  } else if (batches < chain.ring_prefetch) {
    predicted.interval->low = std::min(predicted.interval->low, forecast.unqueued());
  }
  out.note = "with steady costs the length of the queue changes nothing";
}

/// Full, in later epochs, with room for all samples.
void predict_cache(const WhatIf& what_if, const ChainDescription& chain, const Forecast& forecast,
                   WhatIfResult& out) {
  const Json name = Json::parse(what_if.value, nullptr, false);
  const auto after = cached_stage(chain, name.is_string() ? name.get<std::string>() : "");
  if (!after) return;
  const double bytes = chain.stages[*after - 1].output_bytes.value_or(0);
  out.predicted = forecast.after(cached_after(chain, *after, 1, bytes));
  out.add_note("from the second epoch on, with room for all samples");
}

/// For whole batches, behind the copy.
void predict_on_device(const WhatIf& what_if, const ChainDescription& chain,
                       const Forecast& forecast, WhatIfResult& out) {
  const Json name = Json::parse(what_if.value, nullptr, false);
  const auto first = sample_stage(chain, name.is_string() ? name.get<std::string>() : "");
  if (!first) return;
  const DeviceChanges changes = on_device_from(chain, *first);
  out.predicted = forecast.between(changes.likely, changes.least);
  out.add_note("what the device takes for it is not known, and taken to be nothing");
}

/// A crop that runs earlier.
void predict_order(const WhatIf& what_if, const ChainDescription& chain, const Forecast& forecast,
                   WhatIfResult& out) {
  const Json word = Json::parse(what_if.value, nullptr, false);
  const auto move = stage_move(chain, word.is_string() ? word.get<std::string>() : "");
  const auto left = move ? bytes_left_by(chain, move->stage) : std::nullopt;
  if (!left) {
    out.add_note("how much of a sample the crop leaves is not known; --verify runs it");
    return;
  }
  const OrderChanges changes = spared_by_order(passed_by(*move), std::min(1.0, *left));
  out.predicted = forecast.between(changes.likely, changes.least);
  out.add_note("costs are taken to be in proportion to the pixels");
}

/// A batch with fewer bytes.
void predict_unused(const ChainDescription& chain, const Forecast& forecast, WhatIfResult& out) {
  const auto changes = without_unused(chain);
  if (!changes) return;
  out.predicted = forecast.between(changes->likely, changes->least);
  out.add_note("what makes it goes on doing so");
}

/// In Python, where one thread computes at a time.
void predict_read_threads(const WhatIf& what_if, const ChainDescription& chain,
                          const Forecast& forecast, WhatIfResult& out) {
  const Json threads = Json::parse(what_if.value, nullptr, false);
  if (!threads.is_number_integer()) return;
  const ThreadChanges changes = sample_threads(chain, threads.get<std::int64_t>());
  out.predicted = forecast.between(changes.likely, changes.most);
}

/// As from memory, in later epochs.
void predict_read_cache(const WhatIf& what_if, const ChainDescription& chain,
                        const Forecast& forecast, WhatIfResult& out) {
  const double bytes = chain.stages[what_if.stage].output_bytes.value_or(0);
  out.predicted = forecast.after(cached_after(chain, what_if.stage + 1, 1, bytes));
  out.add_note(
      "from the second epoch on, as fast as from memory, with room for all samples on the disk");
}

/// As long as what is counted is waited for one after the other, as it was.
void predict_latency(const WhatIf& what_if, const ChainDescription& chain, const Forecast& forecast,
                     const std::optional<StorageCounts>& storage, WhatIfResult& out) {
  const std::string& name = chain.stages[what_if.stage].name;
  if (!storage || storage->samples == 0 || storage->waiting_seconds <= 0) {
    out.note = "what " + name +
               " waits for was not counted: that is done after a verdict that names it, where the "
               "requests can be told";
    return;
  }
  const StageCost& cost = forecast.costs().stages[what_if.stage];
  const double waiting = cost.worker_seconds - cost.cpu_seconds;
  if (waiting <= 0) {
    out.note = name + " does not wait";
    return;
  }
  const double counted = storage->waiting_seconds / static_cast<double>(storage->samples);
  const double share = std::min(1.0, counted / waiting);
  out.predicted = forecast.after(
      {.stages = {{.stage = what_if.stage, .waiting = 1 - (1 - what_if.factor) * share}}});
  out.add_note(short_duration(counted) + " of waiting per sample were counted");
}

/// What other workers cost beyond what the model predicts, if they are processes.
void add_process_notes(const WhatIf& what_if, const ChainDescription& chain, WhatIfResult& out) {
  if (chain.worker_processes && chain.workers == 0 && what_if.count > 0 && !chain.sending) {
    out.add_note("what it costs to send batches from workers is not known, and is in the interval");
  }
  const int threads = train_threads_with(chain, static_cast<int>(what_if.count));
  if (threads != chain.train_threads) {
    out.add_note("the training step then computes with " +
                 counted(static_cast<std::uint64_t>(threads), "thread") + " instead of " +
                 std::to_string(chain.train_threads) + ", in a time that is not known");
  }
  const std::int64_t more = what_if.count - chain.workers;
  if (!chain.worker_bytes || more <= 0) return;
  out.add_note("each worker takes " + format_bytes(*chain.worker_bytes) + " of memory, together " +
               format_bytes(*chain.worker_bytes * static_cast<double>(more)) + " more");
}

bool is_known(const WhatIf& what_if, const Forecast& forecast) {
  const bool of_stage = what_if.kind == WhatIf::Kind::stage ||
                        what_if.kind == WhatIf::Kind::latency ||
                        what_if.kind == WhatIf::Kind::read_cache;
  return !of_stage || forecast.costs().stages[what_if.stage].known;
}

Json effective_stage(const WhatIf& what_if, const ChainDescription& chain) {
  const Json spec = Json::parse(chain.effective_json, nullptr, false);
  if (!spec.is_object() || !spec.contains("stages")) return nullptr;
  const Json& stages = spec["stages"];
  return what_if.stage < stages.size() ? stages[what_if.stage] : Json(nullptr);
}

WhatIfArm with(const std::string& path, const std::string& value) {
  return {Arm{.kind = ArmKind::live, .overrides = {{path, value}}}, ""};
}

/// A setting that may have a name of its own.
WhatIfArm with_setting(const ChainDescription& chain, std::string_view path,
                       const std::string& value) {
  const auto name = override_name(chain.settings, path);
  if (!name)
    return {std::nullopt, std::string(path) + " can only be changed in the code of the job"};
  return with(*name, value);
}

/// The path in a pipeline file of the setting that a what-if sets.
std::string setting_path(const WhatIf& what_if, const ChainDescription& chain) {
  const JobSetting* const setting =
      chain.settings.of_file ? nullptr : chain.settings.find(what_if.path);
  return setting != nullptr ? setting->path : what_if.path;
}

/// The setting that a what-if changes, and its value; empty if it changes a cost.
std::optional<std::pair<std::string, std::string>> changed_setting(const WhatIf& what_if,
                                                                   const ChainDescription& chain) {
  const std::string count = std::to_string(what_if.count);
  switch (what_if.kind) {
    case WhatIf::Kind::workers:
      return std::pair(std::string(settings::kWorkers.key), count);
    case WhatIf::Kind::batch_size:
      return std::pair(std::string(settings::kBatchSize.key), count);
    case WhatIf::Kind::prefetch:
      return std::pair(std::string(settings::kPrefetch.key), count);
    case WhatIf::Kind::setting:
      return std::pair(setting_path(what_if, chain), what_if.value);
    case WhatIf::Kind::read_cache:
      // In a file it is another stage.
      if (chain.settings.of_file) break;
      return std::pair(std::string(kReadCache), what_if.value);
    case WhatIf::Kind::stage:
    case WhatIf::Kind::step:
    case WhatIf::Kind::latency:
      break;
  }
  return std::nullopt;
}

/// The stage (from 1) behind which a what-if keeps samples in a file; empty if it keeps none.
std::optional<std::size_t> kept_in_file_after(const WhatIf& what_if,
                                              const ChainDescription& chain) {
  if (what_if.kind == WhatIf::Kind::read_cache) return what_if.stage + 1;
  if (what_if.path != kDiskCacheSetting) return std::nullopt;
  const Json name = Json::parse(what_if.value, nullptr, false);
  return cached_stage(chain, name.is_string() ? name.get<std::string>() : "");
}

/// The line of code that sets it; empty for pipeline files.
std::string line_of(const WhatIf& what_if, const ChainDescription& chain, const std::string& path,
                    const std::string& json) {
  const JobSetting* const setting = chain.settings.of_file ? nullptr : chain.settings.at(path);
  if (setting == nullptr) return {};
  const auto after = kept_in_file_after(what_if, chain);
  const double limit = after ? cache_file_limit(chain, *after) : 0;
  return with_file_limit(code_line(*setting, json), limit);
}

WhatIfArm arm_of_stage(const WhatIf& what_if, const ChainDescription& chain) {
  const StageDescription& stage = chain.stages[what_if.stage];
  if (what_if.factor == 0) {
    return {Arm{.kind = ArmKind::bypass, .stage = static_cast<int>(what_if.stage) + 1}, ""};
  }
  const Json spec = effective_stage(what_if, chain);
  if (stage.type.starts_with("synthetic.") && spec.is_object() && spec.contains("us")) {
    return with("stages." + stage.name + ".us",
                Json(spec["us"].get<double>() * what_if.factor).dump());
  }
  return {std::nullopt, "a cheaper " + stage.name + " cannot be run, only predicted"};
}

/// The latency of emulated storage can be changed: most of what a small request takes.
WhatIfArm arm_of_latency(const WhatIf& what_if, const ChainDescription& chain) {
  const Json spec = Json::parse(chain.effective_json, nullptr, false);
  Arm arm{.kind = ArmKind::live};
  for (const std::string key : {"latency_ms", "latency_p99_ms"}) {
    const Json::json_pointer place("/emulate/storage/" + key);
    if (!spec.is_object() || !spec.contains(place) || !spec[place].is_number()) continue;
    arm.overrides["emulate.storage." + key] =
        Json(spec[place].get<double>() * what_if.factor).dump();
  }
  if (!arm.overrides.empty()) return {arm, ""};
  return {std::nullopt, "another latency cannot be run, only predicted"};
}

/// Why a setting is not predicted.
std::string unpredicted(const WhatIf& what_if, const ChainDescription& chain) {
  if (what_if.path == settings::kLoader) {
    return "with steady costs the loader changes nothing, and what slow samples hold back is not "
           "predicted; --verify runs it";
  }
  const std::string trains = changes_training(what_if, chain);
  if (trains.empty()) return "the cost model does not cover this setting; --verify runs it";
  return trains + "; it is not predicted: --verify runs it for a few steps, and undoes them";
}

}  // namespace

WhatIfResult predict_what_if(const WhatIf& what_if, const ChainDescription& chain,
                             const std::optional<Forecast>& forecast,
                             const std::optional<StorageCounts>& storage) {
  WhatIfResult out;
  out.change = what_if.text;
  if (const auto setting = changed_setting(what_if, chain)) {
    out.line = line_of(what_if, chain, setting->first, setting->second);
  }
  const bool caches = !chain.settings.of_file && what_if.path == settings::kCache;
  const bool moves = !chain.settings.of_file && what_if.path == settings::kOnDevice;
  const bool threads = !chain.settings.of_file && what_if.path == settings::kReadThreads;
  const bool orders = !chain.settings.of_file && what_if.path == settings::kOrder;
  const bool unused = !chain.settings.of_file && what_if.path == settings::kUnused;
  const bool known = caches || moves || threads || orders || unused;
  if (what_if.kind == WhatIf::Kind::setting && !known) {
    out.note = unpredicted(what_if, chain);
    return out;
  }
  if (!forecast) {
    out.note = "the cost model could not be fitted; --verify may tell";
    return out;
  }
  if (!is_known(what_if, *forecast)) {
    out.note = "what " + chain.stages[what_if.stage].name +
               " costs by itself was not measured; --boundaries " + std::to_string(what_if.stage) +
               "," + std::to_string(what_if.stage + 1) + " does";
    return out;
  }
  if (what_if.kind == WhatIf::Kind::latency) {
    predict_latency(what_if, chain, *forecast, storage, out);
  } else if (what_if.kind == WhatIf::Kind::read_cache) {
    predict_read_cache(what_if, chain, *forecast, out);
  } else if (caches) {
    predict_cache(what_if, chain, *forecast, out);
  } else if (moves) {
    predict_on_device(what_if, chain, *forecast, out);
  } else if (orders) {
    predict_order(what_if, chain, *forecast, out);
  } else if (unused) {
    predict_unused(chain, *forecast, out);
  } else if (threads) {
    predict_read_threads(what_if, chain, *forecast, out);
  } else if (what_if.kind == WhatIf::Kind::batch_size) {
    predict_batch_size(what_if, chain, *forecast, out);
  } else if (what_if.kind == WhatIf::Kind::prefetch) {
    predict_prefetch(what_if, chain, *forecast, out);
  } else if (what_if.kind == WhatIf::Kind::stage && what_if.factor == 0) {
    predict_free(what_if, chain, *forecast, out);
  } else {
    out.predicted = forecast->after(changes_of(what_if, chain));
  }
  if (what_if.kind == WhatIf::Kind::workers) add_process_notes(what_if, chain, out);
  if (forecast->misfit().live > kOtherJob) {
    out.add_note("the cost model does not explain this pipeline well (it is off by " +
                 percent(forecast->misfit().live) + "); --verify tells");
  }
  return out;
}

std::string changes_training(const WhatIf& what_if, const ChainDescription& chain) {
  constexpr std::array<std::string_view, 3> kOfStep{"amp", "channels_last", "compile"};
  const bool rounds =
      !chain.settings.of_file && std::ranges::find(kOfStep, what_if.path) != kOfStep.end();
  return rounds ? "it rounds otherwise, which changes training" : "";
}

WhatIfArm arm_of(const WhatIf& what_if, const ChainDescription& chain) {
  if (const auto setting = changed_setting(what_if, chain)) {
    return with_setting(chain, setting->first, setting->second);
  }
  if (what_if.kind == WhatIf::Kind::stage) return arm_of_stage(what_if, chain);
  if (what_if.kind == WhatIf::Kind::latency) return arm_of_latency(what_if, chain);
  if (what_if.kind == WhatIf::Kind::read_cache) {
    return {std::nullopt, "a stage cannot be inserted by a path; tune --scratch DIR tries it"};
  }
  return {std::nullopt, "another training step cannot be run, only predicted"};
}

}  // namespace cachebisect
