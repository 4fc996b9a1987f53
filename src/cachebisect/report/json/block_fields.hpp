// The fields of a block in the JSON report (base/fields.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/protocol/answer_fields.hpp"

namespace cachebisect {

inline constexpr std::array kArmKinds{ArmKind::replay, ArmKind::bypass, ArmKind::shadow,
                                      ArmKind::live,   ArmKind::null,   ArmKind::unseen};

/// Null where the value is `none`.
template <class Visitor, class Int>
void whole_unless(Visitor& v, const FieldKey& key, Int& value, std::int64_t none) {
  if constexpr (Visitor::kReads) {
    v.whole(key, value);
  } else {
    const auto whole = static_cast<std::int64_t>(value);
    v.whole(key, whole == none ? std::nullopt : std::optional(whole));
  }
}

template <class Visitor>
void rank_range_fields(Visitor& v, Visited<Visitor, RankRange>& ranks) {
  constexpr FieldKey kRank{
      "rank", "the boundary is replayed on this rank alone, the others are live; null: on all",
      Presence::added};
  constexpr FieldKey kCount{"rank_count", "on so many ranks from that one on", Presence::added};
  if constexpr (Visitor::kReads) {
    std::optional<int> first;
    v.whole(kRank, first);
    if (first) ranks = {*first, 1};
    v.whole(kCount, ranks.count);
  } else {
    v.whole(kRank, ranks.is_all() ? std::nullopt : std::optional(ranks.first));
    v.whole(kCount, ranks.is_all() ? std::nullopt : std::optional(ranks.count));
  }
}

/// The fields of an arm, next to those of its block.
template <class Visitor>
void arm_fields(Visitor& v, Visited<Visitor, Arm>& arm) {
  v.choice({"arm", {}, Presence::required}, arm.kind, kArmKinds);
  if constexpr (Visitor::kReads) {
    v.whole({"boundary"}, arm.boundary);
  } else {
    v.whole({"boundary"}, arm.has_boundary() ? std::optional(arm.boundary) : std::nullopt);
  }
  whole_unless(v, {"stage"}, arm.stage, 0);
  v.members({"overrides", "of a live arm: path in the pipeline file -> value"}, arm.overrides);
  v.flag({"observed", "inline probes ran"}, arm.observed);
  rank_range_fields(v, arm.ranks);
  whole_unless(v, {"cache_samples", "only the first so many cached samples were served; null: all"},
               arm.cache_samples, 0);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Arm>& arm) {
  arm_fields(v, arm);
}

template <class Visitor>
void throttled_by(Visitor& v, Visited<Visitor, std::optional<Throttling>>& throttling) {
  std::optional<std::vector<std::string>> causes;
  if (throttling) {
    causes.emplace();
    if (throttling->thermal) causes->emplace_back("thermal");
    if (throttling->power) causes->emplace_back("power");
  }
  v.optional_texts(
      {"throttled_by", "why the device ran below its clock: thermal, power; empty: it did not"},
      causes);
  if constexpr (Visitor::kReads) {
    if (!causes) return;
    throttling.emplace();
    for (const std::string& cause : *causes) {
      throttling->thermal = throttling->thermal || cause == "thermal";
      throttling->power = throttling->power || cause == "power";
    }
  }
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, DeviceReading>& reading) {
  reading_fields(v, reading);
  throttled_by(v, reading.throttling);
}

template <class Visitor>
void clock_field(Visitor& v, Visited<Visitor, BlockResult>& r) {
  v.number({"clock_mhz",
            "clock of the fastest CPU when the block ended; null without a frequency driver",
            Presence::added},
           r.clock_mhz);
}

inline constexpr std::array kCounterKeys{"samples",        "busy_seconds",       "cpu_seconds",
                                         "serial_seconds", "slot_write_seconds", "slot_writes"};

[[nodiscard]] inline std::uint64_t counted(double number) {
  constexpr double kMost = 1e15;
  return static_cast<std::uint64_t>(std::clamp(std::isfinite(number) ? number : 0, 0.0, kMost));
}

template <class Visitor>
void counters_fields(Visitor& v, Visited<Visitor, std::vector<StageCounters>>& stages) {
  std::vector<double> samples, busy, cpu, serial, slot_write, slot_writes;
  for (const StageCounters& stage : stages) {
    samples.push_back(static_cast<double>(stage.samples));
    busy.push_back(stage.busy_seconds);
    cpu.push_back(stage.cpu_seconds);
    serial.push_back(stage.serial_seconds);
    slot_write.push_back(stage.slot_write_seconds);
    slot_writes.push_back(static_cast<double>(stage.slot_writes));
  }
  v.numbers({"samples"}, samples);
  v.numbers({"busy_seconds", "of the threads that ran the stage, waiting included"}, busy);
  v.numbers({"cpu_seconds"}, cpu);
  v.numbers({"serial_seconds", "in sections that workers enter one at a time"}, serial);
  v.numbers({"slot_write_seconds", "writing samples into batch slots"}, slot_write);
  v.numbers({"slot_writes", "samples counted in slot_write_seconds"}, slot_writes);
  if constexpr (Visitor::kReads) {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      stages.push_back({.samples = counted(samples[s]),
                        .busy_seconds = busy.at(s),
                        .cpu_seconds = cpu.at(s),
                        .serial_seconds = serial.at(s),
                        .slot_write_seconds = slot_write.at(s),
                        .slot_writes = counted(slot_writes.at(s))});
    }
  }
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, SlowestRank>& slowest) {
  v.whole({"rank"}, slowest.rank);
  v.amount({"starved_seconds"}, slowest.starved_seconds);
  v.amount({"next_starved_seconds", "of the rank that waited longest but for this one"},
           slowest.next_starved_seconds);
}

/// What an analysis needs besides.
template <class Visitor>
void analysis_fields(Visitor& v, Visited<Visitor, BlockResult>& r) {
  constexpr auto kAdded = Presence::added;
  more_result_fields(v, r);
  v.part({"slowest_rank",
          "of a distributed job: the rank that waited longest for its data; null for one process",
          kAdded},
         r.slowest_rank);
  not_kept_field(v, r);
  v.group_unless({"counters", "of inline probes, by stage; null if none ran", kAdded},
                 r.stages.empty(), [&] { counters_fields(v, r.stages); });
}

/// Each round is one where none is given.
template <class Visitor>
void super_round_field(Visitor& v, Visited<Visitor, BlockRecord>& record) {
  constexpr FieldKey kKey{
      "super_round",
      "number of the first round of those that ran in one random order with this one; -1: pilot",
      Presence::added};
  if constexpr (Visitor::kReads) record.super_round = record.round;
  v.whole(kKey, record.super_round, -1);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, BlockRecord>& record) {
  v.whole({"round"}, record.round, -1);
  super_round_field(v, record);
  arm_fields(v, record.arm);
  auto& result = record.result;
  result_fields(v, result);
  clock_field(v, result);
  v.group_unless(
      {"device", "the device when the block ended, by NVML; null without it", Presence::added},
      is_empty(result.device), [&] { fields(v, result.device); });
  void_field(v, result);
  constexpr auto kAdded = Presence::added;
  v.choice({"phase", "what the block was run for", kAdded}, record.phase, kBlockPhases);
  v.flag({"throttled", "void for throttling of the device or CPUs alone", kAdded},
         record.repeated_for_throttling);
  v.flag({"unfinished", "its super-round ended early: counts for means, not as evidence", kAdded},
         record.unfinished);
  v.flag({"also_for_mean", "a null block that is a second block of its boundary too", kAdded},
         record.also_for_mean);
  analysis_fields(v, result);
}

}  // namespace cachebisect
