// The fields of a recording in the JSON report: what was measured besides the blocks, from which
// the rest of the report follows (base/fields.hpp).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/report/json/block_fields.hpp"
#include "cachebisect/report/json/result_fields.hpp"

namespace cachebisect {

inline constexpr std::array kSettingValues{JobSetting::Values::count, JobSetting::Values::flag,
                                           JobSetting::Values::word};

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, JobSetting>& setting) {
  v.text({"path"}, setting.path);
  v.text({"name"}, setting.name);
  v.text({"code"}, setting.code);
  v.choice({"values"}, setting.values, kSettingValues);
  v.whole({"min"}, setting.min);
  v.whole({"max"}, setting.max);
  v.texts({"words"}, setting.words);
  v.flag({"can_run"}, setting.can_run);
  v.flag({"of_workers"}, setting.of_workers);
  v.flag({"per_worker"}, setting.per_worker);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, JobSettings>& settings) {
  v.flag({"of_file", "changed in a pipeline file, not in code"}, settings.of_file);
  v.list({"all"}, settings.all);
  v.texts_by_name({"advice", "of the adapter, by the id of a remedy or warning"}, settings.advice);
}

/// What the parts "device" and "pipeline" of the report do not say of the chain.
template <class Visitor>
void chain_fields(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  v.part({"settings", "how the job is changed"}, chain.settings);
  v.list({"stages"}, chain.stages);
  job_fields(v, chain);
  v.flag({"device_clock_falls"}, chain.device_clock_falls);
  v.text({"gpu_problem", "why auto chose the cpu on a machine with a GPU"}, chain.gpu_problem);
  usable_cpus_field(v, chain);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Questions>& questions) {
  v.texts({"what_ifs"}, questions.what_ifs);
  v.flag({"verify"}, questions.verify);
  v.number({"expect_samples_per_second"}, questions.expect_samples_per_second);
  v.number({"cost_per_hour"}, questions.cost_per_hour);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, MachineInfo>& machine) {
  v.text({"cpu"}, machine.cpu);
  v.whole({"cores"}, machine.cores);
  v.amount({"usable_cpus"}, machine.usable_cpus);
  v.number({"usable_cores"}, machine.usable_cores);
  v.whole({"numa_nodes"}, machine.numa_nodes);
  v.amount({"memory_bytes"}, machine.memory_bytes);
  v.amount({"memory_available_bytes"}, machine.memory_available_bytes);
  v.number({"llc_bytes", "last-level cache"}, machine.llc_bytes);
  v.text({"os"}, machine.os);
  v.flag({"virtualized"}, machine.virtualized);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Disturbance>& seen) {
  v.number({"steal_share"}, seen.steal_share);
  v.number({"other_load"}, seen.other_load);
  v.number({"frequency_change"}, seen.frequency_change);
  v.number({"throttled_share"}, seen.throttled_share);
  v.number({"memory_stall_share"}, seen.memory_stall_share);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, NodeDisturbance>& node) {
  v.text({"node"}, node.node);
  v.number({"usable_cpus"}, node.usable_cpus);
  v.part({"disturbance"}, node.seen);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, VerdictRounds>& verdict) {
  v.wholes({"candidates", "boundaries that may be visited"}, verdict.candidates);
  v.wholes({"suspects", "stages that the pilot suspected"}, verdict.suspects);
  v.amount({"round_seconds", "expected, of one more round"}, verdict.round_seconds);
  v.number({"certified_after_seconds"}, verdict.certified_after_seconds);
  v.amount({"seconds", "of the budget, used when its rounds ended"}, verdict.seconds);
}

/// A block that is not in the list of blocks.
template <class Visitor>
void fields(Visitor& v, Visited<Visitor, BlockResult>& block) {
  result_fields(v, block);
  clock_field(v, block);
  analysis_fields(v, block);
  v.group_unless({"device"}, is_empty(block.device), [&] { fields(v, block.device); });
  v.flag({"void"}, block.is_void);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, SustainedRuns>& runs) {
  v.part({"live"}, runs.live);
  v.part({"ceiling"}, runs.ceiling);
  v.list({"shorter_live", "runs of live that ended slowly, and were repeated"}, runs.shorter_live);
  v.amount({"seconds"}, runs.seconds);
}

/// The columns of a table, whose rounds follow from the blocks.
template <class Visitor>
void columns_field(Visitor& v, Visited<Visitor, RoundTable>& table) {
  if constexpr (Visitor::kReads) {
    std::vector<Arm> arms;
    v.list({"columns"}, arms);
    table = RoundTable(std::move(arms));
  } else {
    v.list({"columns"}, table.arms());
  }
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, RoundTable>& table) {
  columns_field(v, table);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, CacheRounds>& caches) {
  columns_field(v, caches.table);
  v.amount({"fill_seconds"}, caches.fill_seconds);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, VerifiedArm>& arm) {
  arm_fields(v, arm.arm);
  v.text({"fault", "why it was not run, or not completed"}, arm.fault);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, RunFault>& fault) {
  v.text({"what"}, fault.what);
  v.texts({"details"}, fault.details);
}

/// The blocks are a part of the report.
template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Measurements>& measured) {
  v.group({"chain"}, [&] { chain_fields(v, measured.chain); });
  v.part({"questions"}, measured.questions);
  v.part({"machine"}, measured.machine);
  v.part({"disturbance", "of the machine, while the verdict's rounds ran"}, measured.disturbance);
  v.list({"other_nodes", "the same of other machines of the job", Presence::added},
         measured.other_nodes);
  v.part({"cache"}, measured.cache);
  v.amount({"prepare_seconds"}, measured.prepare_seconds);
  v.amount({"measure_seconds"}, measured.measure_seconds);
  v.amount({"refill_seconds"}, measured.refill_seconds);
  v.amount({"verdict_seconds"}, measured.verdict_seconds);
  v.amount({"wall_seconds"}, measured.wall_seconds);
  v.flag({"verdict_reached"}, measured.verdict_reached);
  v.part({"verdict"}, measured.verdict);
  v.part({"sustained", "the runs in one piece"}, measured.sustained);
  v.part({"explain_arms"}, measured.explain.arms);
  v.part({"explain_caches"}, measured.explain.caches);
  v.text({"explain_fault"}, measured.explain.fault);
  v.list({"verify_arms"}, measured.verify.arms);
  v.part({"verify_rounds"}, measured.verify.table);
  v.part({"fault", "what ended the run after its verdict"}, measured.fault);
}

}  // namespace cachebisect
