// The JSON report. Keys keep the order of the schema, so that two reports can be compared by eye.
#include <ostream>

#include <nlohmann/json.hpp>

#include "cachebisect/base/version.hpp"
#include "cachebisect/format/json_values.hpp"
#include "cachebisect/report/json/json_device.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

using json_values::Json;
using json_values::number;
using json_values::text;

Json interval(const std::optional<Interval>& value) {
  return value ? Json::array({number(value->low), number(value->high)}) : Json(nullptr);
}

Json rate(const Estimate& estimate) {
  return {{"samples_per_second", number(estimate.value)},
          {"interval", interval(estimate.interval)}};
}

Json tool() {
  return {{"name", "cachebisect"}, {"version", version()}, {"git", text(git_revision())}};
}

Json timing(const Timing& t) {
  return {{"prepare_seconds", t.prepare_seconds},
          {"cache_seconds", t.cache_seconds},
          {"measure_seconds", t.measure_seconds},
          {"explain_seconds", t.explain_seconds},
          {"sustain_seconds", t.sustain_seconds},
          {"verdict_seconds", t.verdict_seconds},
          {"wall_seconds", t.wall_seconds},
          {"first_batch_seconds", number(t.first_batch_seconds)},
          {"epoch_start_seconds", number(t.epoch_start_seconds)}};
}

Json machine(const MachineReport& m) {
  return {{"cpu", m.cpu},
          {"cores", m.cores},
          {"usable_cpus", m.usable_cpus},
          {"usable_cores", number(m.usable_cores)},
          {"numa_nodes", m.numa_nodes ? Json(*m.numa_nodes) : Json(nullptr)},
          {"memory_bytes", number(m.memory_bytes)},
          {"os", m.os},
          {"virtualized", m.virtualized ? Json(*m.virtualized) : Json(nullptr)},
          {"noise",
           {{"block_cv", number(m.noise.block_cv)},
            {"null",
             {{"drop", number(m.noise.null_drop.value)},
              {"interval", interval(m.noise.null_drop.interval)}}},
            {"steal_share", number(m.noise.steal_share)},
            {"frequency_change", number(m.noise.frequency_change)},
            {"other_load_cpus", number(m.noise.other_load)},
            {"throttled_share", number(m.noise.throttled_share)},
            {"memory_stall_share", number(m.noise.memory_stall_share)},
            {"drift",
             {{"change", number(m.noise.drift.value)},
              {"interval", interval(m.noise.drift.interval)}}}}},
          {"floor",
           {{"ns_per_sample", number(m.floor.ns_per_sample)},
            {"us_per_batch", number(m.floor.us_per_batch)}}}};
}

Json worker_search(const std::optional<WorkerSearch>& search) {
  if (!search) return nullptr;
  Json trials = Json::array();
  for (const WorkerTrial& trial : search->trials) {
    trials.push_back({{"workers", trial.workers},
                      {"samples_per_second", number(trial.samples_per_second)},
                      {"interval", interval(trial.interval)}});
  }
  return {{"trials", std::move(trials)},
          {"certain", search->certain},
          {"limited_by", text(search->limited_by)}};
}

Json batch_contents(const std::optional<BatchContents>& batch) {
  if (!batch) return nullptr;
  return {{"objects", batch->objects},
          {"tensors", batch->tensors},
          {"packed_tensors", batch->packed_tensors},
          {"bytes", number(batch->bytes)}};
}

Json pipeline(const Report& report) {
  const ChainDescription& chain = report.chain;
  return {{"name", chain.name},
          {"file", text(chain.file)},
          {"sha256", text(chain.sha256)},
          {"batch_size", chain.batch_size},
          {"workers", chain.workers},
          {"worker_search", worker_search(chain.worker_search)},
          {"loader", to_string(chain.loader)},
          {"ranks", chain.ranks},
          {"ring_slots", chain.ring_slots},
          {"train_threads", chain.train_threads},
          {"worker_threads", chain.worker_threads},
          {"worker_bytes", number(chain.worker_bytes)},
          {"persistent_workers", chain.persistent_workers},
          {"batch_contents", batch_contents(chain.batch_contents)},
          {"effective",
           chain.effective_json.empty() ? Json(nullptr) : Json::parse(chain.effective_json)},
          {"generated_data", chain.generated_data},
          {"skipped", {{"count", report.skipped}, {"first", report.first_skipped}}}};
}

Json settings(const BisectSettings& s) {
  return {{"confidence", s.confidence},
          {"min_drop", s.min_drop},
          {"budget_seconds", s.budget_seconds},
          {"io", s.io},
          {"seed", s.seed},
          {"order_nonce", s.order_nonce ? Json(*s.order_nonce) : Json(nullptr)}};
}

Json cache(const Report& report) {
  const CacheFacts& facts = report.cache;
  return {{"samples", facts.samples},
          {"bytes_host", number(facts.bytes_host)},
          {"bytes_device", number(facts.bytes_device)},
          {"limited_by", text(facts.limited_by)},
          {"k2k_change", number(report.k2k_change)},
          {"resident_share", number(report.resident_share)},
          {"idle_workers", facts.idle_workers}};
}

Json verdict(const Verdict& v) {
  Json needed = nullptr;
  if (v.needed) needed = {{"rounds", v.needed->rounds}, {"seconds", number(v.needed->seconds)}};
  return {{"kind", to_string(v.kind)},
          {"stage", text(v.stage)},
          {"stage_index", v.stage_index > 0 ? Json(v.stage_index) : Json(nullptr)},
          {"rank", v.rank ? Json(*v.rank) : Json(nullptr)},
          {"drop", number(v.drop.value)},
          {"drop_interval", interval(v.drop.interval)},
          {"span", text(v.span)},
          {"tied_with", v.tied_with},
          {"shares", v.shares},
          {"fix_first", text(v.fix_first)},
          {"detectable_drop", number(v.detectable_drop)},
          {"rounds", v.rounds},
          {"certified_after_seconds", number(v.certified_after_seconds)},
          {"needed", needed},
          {"text", v.text}};
}

Json loss(const Loss& l) {
  return {{"total", number(l.total.value)},
          {"interval", interval(l.total.interval)},
          {"starvation", number(l.starvation.value)},
          {"starvation_interval", interval(l.starvation.interval)},
          {"contention", number(l.contention.value)},
          {"contention_interval", interval(l.contention.interval)}};
}

Json cost(const std::optional<Cost>& cost) {
  if (!cost) return nullptr;
  return {{"per_hour", number(cost->per_hour)},
          {"lost_per_hour", number(cost->lost_per_hour.value)},
          {"interval", interval(cost->lost_per_hour.interval)}};
}

Json sustained(const std::optional<SustainedReport>& run) {
  if (!run) return nullptr;
  Json json = rate(run->samples_per_second);
  json["seconds"] = number(run->seconds);
  return json;
}

Json ceiling(const Report& report) {
  Json json = rate(report.ceiling);
  json["sustained"] = sustained(report.ceiling_sustained);
  return json;
}

Json live(const Report& report) {
  Json json = rate(report.live);
  json["sustained"] = sustained(report.live_sustained);
  json["starved_share"] = number(report.live_loop.starved_share);
  json["ready_batches"] = number(report.live_loop.ready_batches);
  return json;
}

Json boundary(const BoundaryReport& b) {
  return {{"index", b.index},
          {"after", text(b.after)},
          {"held", to_string(b.held)},
          {"visited", b.visited},
          {"samples_per_second", number(b.samples_per_second.value)},
          {"interval", interval(b.samples_per_second.interval)},
          {"seconds_per_sample", number(b.seconds_per_sample)},
          {"serve_seconds_per_sample", number(b.serve_seconds_per_sample)},
          {"predicted_samples_per_second", number(b.predicted_samples_per_second)},
          {"blocks", b.blocks},
          {"item_bytes", number(b.item_bytes)}};
}

Json ratio(const Estimate& estimate) {
  if (!estimate.value) return nullptr;
  return {{"value", number(estimate.value)}, {"interval", interval(estimate.interval)}};
}

Json stage(const StageReport& s) {
  return {{"index", s.index},
          {"name", s.name},
          {"type", s.type},
          {"category", category_name(s.type)},
          {"random", s.random},
          {"cacheable", s.cacheable},
          {"drop", number(s.drop.value)},
          {"drop_interval", interval(s.drop.interval)},
          {"certified", s.certified},
          {"bursty", s.bursty},
          {"seconds_per_sample", number(s.seconds_per_sample)},
          {"cpu_seconds_per_sample", number(s.cpu_seconds_per_sample)},
          {"wait_seconds_per_sample", number(s.wait_seconds_per_sample)},
          {"busy_share", number(s.busy_share)},
          {"replayed_busy_ratio", ratio(s.replayed_busy_ratio)},
          {"output_bytes", number(s.output_bytes)},
          {"padding_share", number(s.padding_share)},
          {"copy_gb_per_s", number(s.copy_gb_per_s)},
          {"copy_share", number(s.copy_share)},
          {"payoff", rate(s.payoff)},
          {"span", text(s.span)}};
}

Json span(const SpanReport& s) {
  return {{"name", s.name},
          {"first", s.first},
          {"last", s.last},
          {"drop", number(s.drop.value)},
          {"drop_interval", interval(s.drop.interval)},
          {"certified", s.certified},
          {"bursty", s.bursty},
          {"seconds_per_sample", number(s.seconds_per_sample)}};
}

Json rank(const RankReport& r) { return {{"rank", r.rank}, {"payoff", rate(r.payoff)}}; }

Json remedy(const Remedy& r) {
  Json edits = Json::array();
  for (const Edit& edit : r.edits)
    edits.push_back({{"path", edit.path}, {"value", Json::parse(edit.value)}});
  return {{"id", r.id},
          {"stage", text(r.stage)},
          {"text", r.text},
          {"reason", r.reason},
          {"flags", r.flags},
          {"edits", edits},
          {"lines", r.lines},
          {"predicted", number(r.predicted)},
          {"measured", number(r.measured)}};
}

Json what_if(const WhatIfResult& w) {
  return {{"change", w.change},
          {"predicted", rate(w.predicted)},
          {"measured", rate(w.measured)},
          {"line", text(w.line)},
          {"note", text(w.note)}};
}

Json step_function(const StepFunction& f) {
  return {{"name", f.name},
          {"file", f.file},
          {"line", f.line},
          {"share", number(f.share)},
          {"movable", f.movable}};
}

/// Override values are written as JSON if they parse, else as strings.
Json overrides(const Arm& arm) {
  Json json = Json::object();
  for (const auto& [path, value] : arm.overrides) {
    Json parsed = Json::parse(value, nullptr, false);
    json[path] = parsed.is_discarded() ? Json(value) : std::move(parsed);
  }
  return json;
}

Json block(const BlockRecord& record) {
  const BlockResult& r = record.result;
  return {{"round", record.round},
          {"super_round", record.super_round},
          {"arm", to_string(record.arm.kind)},
          {"boundary", record.arm.has_boundary() ? Json(record.arm.boundary) : Json(nullptr)},
          {"stage", record.arm.stage > 0 ? Json(record.arm.stage) : Json(nullptr)},
          {"overrides", overrides(record.arm)},
          {"observed", record.arm.observed},
          {"rank", record.arm.rank == kAllRanks ? Json(nullptr) : Json(record.arm.rank)},
          {"cache_samples",
           record.arm.cache_samples > 0 ? Json(record.arm.cache_samples) : Json(nullptr)},
          {"start_seconds", number(r.start_seconds)},
          {"warmup_steps", r.warmup_steps},
          {"steps", r.steps},
          {"samples", r.samples},
          {"seconds", number(r.seconds)},
          {"cpu_seconds", number(r.cpu_seconds)},
          {"starved_seconds", number(r.starved_seconds)},
          {"trainer_seconds", number(r.trainer_seconds)},
          {"ready_batches", number(r.ready_batches)},
          {"device_idle_share", number(r.device_idle_share)},
          {"skipped", r.skipped},
          {"resident_share", number(r.resident_share)},
          {"clock_mhz", number(r.clock_mhz)},
          {"device", device_reading_json(r.device)},
          {"void", r.is_void}};
}

template <class Item>
Json list(const std::vector<Item>& items, Json (*write)(const Item&)) {
  Json all = Json::array();
  for (const Item& item : items) all.push_back(write(item));
  return all;
}

Json warning(const Warning& w) {
  return {{"code", w.code}, {"text", w.text}, {"remedy", text(w.remedy)}, {"details", w.details}};
}

Json next(const Report& report) {
  if (!report.next_samples_per_second) return nullptr;
  return {{"stage", text(report.next_stage)},
          {"samples_per_second", number(report.next_samples_per_second)}};
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  const Json json = {
      {"schema_version", 1},
      {"tool", tool()},
      {"command", report.command},
      {"started", report.started},
      {"interrupted", report.interrupted},
      {"timing", timing(report.timing)},
      {"machine", machine(report.machine)},
      {"device", device_json(report.chain)},
      {"pipeline", pipeline(report)},
      {"settings", settings(report.settings)},
      {"cache", cache(report)},
      {"overhead",
       {{"share", number(report.overhead.value)},
        {"interval", interval(report.overhead.interval)}}},
      {"verdict", verdict(report.verdict)},
      {"ceiling", ceiling(report)},
      {"live", live(report)},
      {"loss", loss(report.loss)},
      {"cost", cost(report.cost)},
      {"boundaries", list(report.boundaries, boundary)},
      {"stages", list(report.stages, stage)},
      {"spans", list(report.spans, span)},
      {"ranks", list(report.ranks, rank)},
      {"next", next(report)},
      {"remedies", list(report.remedies, remedy)},
      {"what_ifs", list(report.what_ifs, what_if)},
      {"step_functions", list(report.step_functions, step_function)},
      {"warnings", list(report.warnings, warning)},
      {"blocks", list(report.blocks, block)},
  };
  // ASCII alone, so that no character is a command to the terminal.
  out << json.dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
}

}  // namespace cachebisect
