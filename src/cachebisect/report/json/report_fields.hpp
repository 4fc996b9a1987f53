// The fields of the JSON report (base/fields.hpp): its writer, its reader and its schema visit
// them.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/report/json/block_fields.hpp"
#include "cachebisect/report/json/chain_fields.hpp"
#include "cachebisect/report/json/recording_fields.hpp"
#include "cachebisect/report/json/result_fields.hpp"
#include "cachebisect/report/json/schema_version.hpp"

namespace cachebisect {

/// The fields of the tool that writes the report.
template <class Visitor>
void tool_fields(Visitor& v) {
  std::string name = "cachebisect";
  std::string number = version();
  std::string git = git_revision();
  v.text({"name"}, name);
  v.text({"version"}, number);
  v.optional_text({"git"}, git);
}

template <class Visitor>
void skipped_fields(Visitor& v, Visited<Visitor, Report>& report) {
  v.count({"count"}, report.skipped);
  v.texts({"first"}, report.first_skipped);
}

template <class Visitor>
void cache_fields(Visitor& v, Visited<Visitor, Report>& report) {
  auto& facts = report.cache;
  v.count({"samples", "K, the same at every boundary"}, facts.samples);
  v.amount({"bytes_host"}, facts.bytes_host);
  v.amount({"bytes_device"}, facts.bytes_device);
  v.optional_text({"limited_by"}, facts.limited_by);
  v.number(
      {"k2k_change",
       "of the seconds per sample at the named stage's boundary from K to 2K cached samples, as "
       "a share"},
      report.k2k_change);
  v.number({"resident_share",
            "of the pages of the samples that live blocks read as evidence, those in memory before "
            "they read them"},
           report.resident_share);
  v.whole({"idle_workers", "workers that delivered no sample"}, facts.idle_workers);
}

template <class Visitor>
void ceiling_fields(Visitor& v, Visited<Visitor, Report>& report) {
  estimate(v, {"samples_per_second"}, {"interval"}, report.ceiling);
  v.part({"sustained", "in one piece: of the second half; null if it was not run", Presence::added},
         report.ceiling_sustained);
}

template <class Visitor>
void live_fields(Visitor& v, Visited<Visitor, Report>& report) {
  estimate(v, {"samples_per_second"}, {"interval"}, report.live);
  v.part({"sustained", "in one piece: of the second half; null if it was not run", Presence::added},
         report.live_sustained);
  v.number({"starved_share", "of the live time, the training thread waited for a batch"},
           report.live_loop.starved_share);
  v.number({"ready_batches",
            "batches ready in the ring when the training thread asked, mean; null without workers"},
           report.live_loop.ready_batches);
}

template <class Visitor>
void next_fields(Visitor& v, Visited<Visitor, Report>& report) {
  v.optional_text({"stage"}, report.next_stage);
  v.number({"samples_per_second"}, report.next_samples_per_second);
}

/// What was run, and how.
template <class Visitor>
void setup_fields(Visitor& v, Visited<Visitor, Report>& report) {
  v.text({"command"}, report.command);
  v.text({"started", "ISO 8601, UTC"}, report.started);
  v.flag({"interrupted"}, report.interrupted);
  v.part({"timing"}, report.timing);
  v.part({"machine"}, report.machine);
  v.group({"device"}, [&] { device_fields(v, report.chain); });
  v.group({"pipeline"}, [&] {
    pipeline_fields(v, report.chain,
                    [&] { v.group({"skipped"}, [&] { skipped_fields(v, report); }); });
  });
  v.part({"settings"}, report.settings);
  v.group({"cache"}, [&] { cache_fields(v, report); });
}

/// Read with the rest of the report: see read_recording().
template <class Visitor>
void recording_field(Visitor& v, const Report& report) {
  const Measurements none;
  v.group_unless({"recording",
                  "what was measured besides the blocks: cachebisect report FILE analyses it again",
                  Presence::added},
                 !report.recording,
                 [&] { fields(v, report.recording ? *report.recording : none); });
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Report>& report) {
  constexpr auto kAdded = Presence::added;
  int schema = kReportSchemaVersion;
  v.whole({"schema_version", "rises on any breaking change"}, schema);
  v.group({"tool"}, [&] { tool_fields(v); });
  setup_fields(v, report);
  v.group({"overhead", "share of the throughput that inline probes cost"},
          [&] { estimate(v, {"share"}, {"interval"}, report.overhead); });
  v.part({"verdict"}, report.verdict);
  v.group({"ceiling", "the training step alone, input for free"},
          [&] { ceiling_fields(v, report); });
  v.group({"live", "nothing is cached"}, [&] { live_fields(v, report); });
  v.part({"loss", "shares of the ceiling's throughput; starvation and contention sum to the total"},
         report.loss);
  v.part(
      {"cost", "what the loss costs, in the currency of --cost-per-hour; null without it", kAdded},
      report.cost);
  v.part({"reading", "what the source reads; null if that is not known", kAdded}, report.reading);
  v.part({"storage",
          "what making samples asks of storage, counted after a verdict that names reading; null "
          "if it was not counted",
          kAdded},
         report.storage);
  v.list({"boundaries"}, report.boundaries);
  v.list({"stages"}, report.stages);
  v.list({"spans",
          "stages that were measured together, because no boundary between them could be visited"},
         report.spans);
  v.list({"ranks", "of a distributed job; empty for one process, or if not measured", kAdded},
         report.ranks);
  v.group_unless({"next",
                  "with verdict.fix_first alone made free: what limits then, and the throughput "
                  "measured so"},
                 !report.next_samples_per_second, [&] { next_fields(v, report); });
  v.list({"remedies"}, report.remedies);
  v.list({"what_ifs", {}, kAdded}, report.what_ifs);
  v.list({"step_functions",
          "of a training step that the host limits: what it spends its time in, largest share "
          "first",
          kAdded},
         report.step_functions);
  v.list({"warnings"}, report.warnings);
  v.list({"blocks",
          "every block that was run; round -1 is a pilot, which is no evidence; rounds from "
          "verdict.rounds on explain the verdict"},
         report.blocks);
  if constexpr (!Visitor::kReads) recording_field(v, report);
}

}  // namespace cachebisect
