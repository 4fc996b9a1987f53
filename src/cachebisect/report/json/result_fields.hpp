// The fields of what follows from the measurements in the JSON report (base/fields.hpp).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/answer_fields.hpp"
#include "cachebisect/protocol/chain_fields.hpp"
#include "cachebisect/report/json/block_fields.hpp"
#include "cachebisect/report/json/chain_fields.hpp"

namespace cachebisect {

inline constexpr std::array kVerdictKinds{VerdictKind::anomaly, VerdictKind::drop,
                                          VerdictKind::spread, VerdictKind::flat,
                                          VerdictKind::inconclusive};

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Timing>& t) {
  constexpr auto kAdded = Presence::added;
  v.amount({"prepare_seconds"}, t.prepare_seconds);
  v.amount({"cache_seconds"}, t.cache_seconds);
  v.amount({"measure_seconds"}, t.measure_seconds);
  v.amount({"explain_seconds", "of measure_seconds, after the rounds of the verdict"},
           t.explain_seconds);
  v.amount({"sustain_seconds", "the runs in one piece; no part of measure_seconds", kAdded},
           t.sustain_seconds);
  v.amount({"verdict_seconds", "wall time from the start to the verdict, with its run in one piece",
            kAdded},
           t.verdict_seconds);
  v.amount({"wall_seconds", "wall time from the start to the end", kAdded}, t.wall_seconds);
  v.number({"first_batch_seconds"}, t.first_batch_seconds);
  v.number({"epoch_start_seconds",
            "from the start of an epoch to its first batch, through the loader as it is; null if "
            "it was not observed"},
           t.epoch_start_seconds);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, BisectSettings>& s) {
  v.number({"confidence"}, s.confidence);
  v.number({"min_drop"}, s.min_drop);
  v.number({"budget_seconds"}, s.budget_seconds);
  v.text({"io", "as-is, warm or cold"}, s.io);
  v.count({"seed"}, s.seed);
  v.count({"order_nonce", "chose the place in the epoch where reading began (--nonce)"},
          s.order_nonce);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Needed>& needed) {
  v.whole({"rounds"}, needed.rounds);
  v.number({"seconds"}, needed.seconds);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, RankRange>& ranks) {
  v.whole({"first"}, ranks.first);
  v.whole({"count"}, ranks.count, 1);
}

/// Reports of older versions have single ranks alone.
template <class Visitor>
void ranks_field(Visitor& v, Visited<Visitor, std::optional<RankRange>>& ranks) {
  constexpr FieldKey kRank{"rank", "of a distributed job: the rank that the others wait for",
                           Presence::added};
  std::optional<int> single;
  if constexpr (Visitor::kReads) {
    v.whole(kRank, single);
    if (single) ranks = RankRange{*single, 1};
  } else {
    if (ranks && ranks->is_single()) single = ranks->first;
    v.whole(kRank, single);
  }
  v.part({"ranks", "of a distributed job: the ranks that the others wait for", Presence::added},
         ranks);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Straggler>& straggler) {
  v.flag({"moves", "it is certainly not always the same rank; false: certainly the same in most"},
         straggler.moves);
  v.whole({"rank", "the slowest in most rounds"}, straggler.rank);
  v.whole({"rounds", "in which it was, by far"}, straggler.rounds);
  v.whole({"of_rounds"}, straggler.of_rounds);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Verdict>& verdict) {
  v.choice({"kind", {}, Presence::required}, verdict.kind, kVerdictKinds);
  v.optional_text({"stage"}, verdict.stage);
  whole_unless(v, {"stage_index", "from 1, in chain order"}, verdict.stage_index, 0);
  ranks_field(v, verdict.ranks);
  v.part({"straggler",
          "of a distributed job: whether the rank that waits longest for its data changes from "
          "round to round; null if neither is certain",
          Presence::added},
         verdict.straggler);
  estimate(v, {"drop"}, {"drop_interval"}, verdict.drop);
  v.optional_text({"span", "the stages whose drop it is, if it is not that of one stage"},
                  verdict.span);
  v.texts({"tied_with",
           "drop: the stages that may cost as much as the one that is named; inconclusive: the two "
           "of which it is open which costs more, the larger mean first"},
          verdict.tied_with);
  v.texts({"shares", "spread: the fewest stages that hold half of the loss"}, verdict.shares);
  v.optional_text({"fix_first",
                   "the stage with the largest payoff; differs from stage only where that is "
                   "certain or, unmeasured, the law says so"},
                  verdict.fix_first);
  v.number({"detectable_drop"}, verdict.detectable_drop);
  v.whole({"rounds"}, verdict.rounds);
  v.number({"certified_after_seconds"}, verdict.certified_after_seconds);
  v.part({"needed", "to certify a verdict"}, verdict.needed);
  v.text({"text"}, verdict.text);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, SustainedReport>& run) {
  estimate(v, {"samples_per_second"}, {"interval"}, run.samples_per_second);
  v.amount({"seconds", "for how long it ran"}, run.seconds);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Loss>& loss) {
  estimate(v, {"total"}, {"interval"}, loss.total);
  estimate(v, {"starvation", "the step waits for data: total minus contention"},
           {"starvation_interval"}, loss.starvation);
  estimate(v, {"contention", "loading slows the step down, by the shadow arm"},
           {"contention_interval"}, loss.contention);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Reading>& reading) {
  v.amount({"bytes_per_sample", "mean", Presence::required}, reading.bytes_per_sample);
  v.amount({"live_bytes_per_second"}, reading.live_bytes_per_second);
  v.amount({"ceiling_bytes_per_second", "what storage must give so that the step never waits"},
           reading.ceiling_bytes_per_second);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Cost>& cost) {
  v.amount({"per_hour", "price of the whole job", Presence::required}, cost.per_hour);
  estimate(
      v,
      {"lost_per_hour", "the share of the price that is lost; null if the loss was not measured"},
      {"interval", "of lost_per_hour"}, cost.lost_per_hour);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, BoundaryReport>& b) {
  v.whole({"index"}, b.index);
  v.optional_text({"after", "name of a stage"}, b.after);
  v.choice({"held"}, b.held, kHeld);
  v.flag({"visited"}, b.visited);
  estimate(v,
           {"samples_per_second",
            "between live and ceiling: by the ratio to these in the same rounds; null without an "
            "interval, and if this boundary is not used"},
           {"interval"}, b.samples_per_second);
  v.number({"seconds_per_sample", "mean, of however few blocks"}, b.seconds_per_sample);
  v.number({"serve_seconds_per_sample"}, b.serve_seconds_per_sample);
  v.number({"predicted_samples_per_second",
            "by the law fitted to the live pipeline's inline counters", Presence::added},
           b.predicted_samples_per_second);
  v.whole({"blocks"}, b.blocks);
  v.number({"item_bytes"}, b.item_bytes);
}

template <class Visitor>
void category_field(Visitor& v, Visited<Visitor, StageReport>& s) {
  std::string category(category_name(s.type));
  v.text({"category",
          "read, decode, augment, collate, transfer (from a worker process to the training "
          "process), pin (into page-locked memory), copy, device, synthetic, or that of a plugin"},
         category);
  if constexpr (Visitor::kReads) s.category = category_of(s.type);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, StageReport>& s) {
  v.whole({"index"}, s.index);
  v.text({"name", {}, Presence::required}, s.name);
  v.text({"type"}, s.type);
  category_field(v, s);
  v.flag({"random"}, s.random);
  v.flag({"cacheable"}, s.cacheable);
  estimate(v, {"drop", "share of throughput lost when this stage joins, all stages before it free"},
           {"drop_interval"}, s.drop);
  v.flag({"certified"}, s.certified);
  v.flag({"bursty"}, s.bursty);
  v.number({"seconds_per_sample", "the waterfall: tau(s-1) - tau(s)"}, s.seconds_per_sample);
  v.number({"cpu_seconds_per_sample"}, s.cpu_seconds_per_sample);
  v.number({"wait_seconds_per_sample"}, s.wait_seconds_per_sample);
  v.number({"busy_share", "of the workers' time, live"}, s.busy_share);
  v.group_unless({"replayed_busy_ratio",
                  "busy seconds per sample, replayed over live, in the same rounds; null for a "
                  "stage that no replay ran, and while there is no interval",
                  Presence::added},
                 !s.replayed_busy_ratio.value,
                 [&] { estimate(v, {"value"}, {"interval"}, s.replayed_busy_ratio); });
  v.number({"output_bytes"}, s.output_bytes);
  v.number({"padding_share"}, s.padding_share);
  v.number({"copy_gb_per_s",
            "what the copy to the device reaches, live; null for other stages and where no copy is "
            "timed",
            Presence::added},
           s.copy_gb_per_s);
  v.number(
      {"copy_share",
       "copy_gb_per_s over that of device: the share of what a copy from pinned memory reaches",
       Presence::added},
      s.copy_share);
  rate(v, {"payoff", "throughput with this stage alone free"}, s.payoff);
  v.optional_text({"span", "the span that holds it, if it was not measured alone"}, s.span);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, SpanReport>& s) {
  v.text({"name"}, s.name);
  v.whole({"first", "index of the first stage", Presence::required}, s.first, 1);
  v.whole({"last", "index of the last stage", Presence::required}, s.last, 1);
  estimate(v, {"drop"}, {"drop_interval"}, s.drop);
  v.flag({"certified"}, s.certified);
  v.flag({"bursty"}, s.bursty);
  v.number({"seconds_per_sample"}, s.seconds_per_sample);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, RankReport>& r) {
  v.whole({"rank", "the first, if they are several"}, r.ranks.first);
  v.whole({"count", "how many ranks, from that one on", Presence::added}, r.ranks.count, 1);
  rate(v, {"payoff", "throughput of each rank with these alone at their ceiling"}, r.payoff);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Edit>& edit) {
  v.text({"path", "JSON pointer into the pipeline file", Presence::required}, edit.path);
  v.json({"value"}, edit.value);
  v.choice({"kind", "set, insert (before what is there) or remove", Presence::added}, edit.kind,
           kEditKinds);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Remedy>& r) {
  v.text({"id"}, r.id);
  v.optional_text({"stage"}, r.stage);
  v.text({"text"}, r.text);
  v.text({"reason"}, r.reason);
  v.texts({"flags"}, r.flags);
  v.list({"edits"}, r.edits);
  v.texts({"lines", "of Python to change, or a command to run"}, r.lines);
  estimate(v, {"predicted", "samples/s gained by it alone, by the fitted law"},
           {"predicted_interval", "of the gain", Presence::added}, r.predicted);
  estimate(v, {"measured", "samples/s gained by it alone, run next to the live pipeline"},
           {"measured_interval", "of the gain", Presence::added}, r.measured);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, WhatIfResult>& w) {
  v.text({"change", "as given to --what-if"}, w.change);
  rate(v, {"predicted", "by the law"}, w.predicted);
  rate(v, {"measured", "in rounds next to the present pipeline"}, w.measured);
  v.optional_text({"line", "of Python that makes the change; null if there is none"}, w.line);
  v.optional_text({"note", "why a figure is missing, or what it supposes"}, w.note);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Warning>& w) {
  v.text({"code"}, w.code);
  v.text({"text"}, w.text);
  v.optional_text({"remedy"}, w.remedy);
  v.texts({"details", "of run_failed: the last lines of the traceback"}, w.details);
}

}  // namespace cachebisect
