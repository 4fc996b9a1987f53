#include "cachebisect/bisect/analysis/sustained_runs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/evidence/confidence_sequence.hpp"
#include "cachebisect/bisect/evidence/live_stalls.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

std::optional<SustainedFigure> figure_of(const Measurements& measured, const BlockResult& run,
                                         int boundary) {
  const RoundTable& rounds = measured.verdict.table;
  return sustained_figure(run, rounds.all_block_taus(boundary), measured.settings.confidence);
}

bool changed(const std::optional<SustainedFigure>& figure) {
  return figure && figure->change != SustainedChange::none;
}

/// The ceiling to compare with: in one piece too if that differs, or may differ, from the blocks'.
Estimate ceiling_of(const SustainedFigures& figures, const Waterfall& waterfall) {
  const bool in_one_piece = figures.ceiling_holds || changed(figures.ceiling);
  return in_one_piece ? figures.ceiling->samples_per_second : waterfall.ceiling;
}

Estimate loss_of(const Estimate& live, const Estimate& ceiling) {
  Estimate loss;
  if (live.value && ceiling.value) loss.value = 1 - *live.value / *ceiling.value;
  if (live.interval && ceiling.interval) {
    loss.interval = Interval{1 - live.interval->high / ceiling.interval->low,
                             1 - live.interval->low / ceiling.interval->high};
  }
  return loss;
}

void find_slower_stage(const Measurements& measured, const VerdictState& state,
                       SustainedFigures& figures) {
  const auto own = own_seconds(measured.sustained->live, measured.chain, measured.usable_cpus());
  for (std::size_t s = 0; s < std::min(own.size(), state.live_seconds.size()); ++s) {
    const double grown = own[s].all - state.live_seconds[s];
    if (grown <= figures.slower_seconds - figures.usual_seconds) continue;
    figures.slower_stage = static_cast<int>(s) + 1;
    figures.slower_seconds = own[s].all;
    figures.usual_seconds = state.live_seconds[s];
  }
}

void watch_for_stalls(const Measurements& measured, const VerdictState& state,
                      SustainedFigures& figures) {
  const LiveStalls stalls = live_stalls(measured);
  figures.stalls = stalls.share;
  figures.outweighed = stalls_outweigh(measured, state.findings, state.decision);
  const double steady = std::max(0.0, state.findings.whole.median_drop);
  figures.stalled_loss = 1 - (1 - steady) * (1 - figures.stalls.high);
  const double min_drop = measured.settings.min_drop;
  const bool seems_flat =
      state.decision.kind == VerdictKind::flat ||
      (state.decision.kind == VerdictKind::inconclusive && state.findings.whole.high < min_drop);
  figures.stalled = seems_flat && !stalls.of_machine && figures.stalled_loss >= min_drop;
}

std::optional<double> loss_to_hold(VerdictKind kind, double min_drop,
                                   const SustainedFigures& figures) {
  const bool may_hold = figures.ceiling_holds && figures.loss.value.value_or(0) < min_drop;
  return kind == VerdictKind::flat && !may_hold ? std::nullopt : figures.loss.value;
}

std::string in_one_piece(const SustainedFigure& figure) {
  return rate(*figure.samples_per_second.value) + " samples/s after " + duration(figure.seconds) +
         " in one piece";
}

/// Why the training step alone differs from its blocks, as far as the device tells.
std::string cause_of_change(const Measurements& measured) {
  const DeviceReading& run = measured.sustained->ceiling.device;
  if (run.throttled()) {
    return run.throttling->thermal ? "the device lowered its clock because of heat"
                                   : "the device lowered its clock because of its power limit";
  }
  std::vector<double> clocks;
  for (const BlockRecord& record : measured.blocks) {
    const auto& clock = record.result.device.sm_clock_mhz;
    if (clock && record.shows_replay_at(measured.stages())) clocks.push_back(*clock);
  }
  if (!run.sm_clock_mhz || clocks.empty()) {
    return "the clock, a power limit or other programs changed it";
  }
  const std::string clock_text =
      rate(*run.sm_clock_mhz) + " MHz then, and " + rate(median(clocks)) + " MHz in the blocks";
  const bool moved = std::abs(*run.sm_clock_mhz - median(clocks)) > kNegligible * median(clocks);
  return moved ? "the device's SM clock was " + clock_text
               : "not by the clock of the device (" + clock_text + "); other programs, or memory";
}

/// Timers and devices err in a run in one piece as they do in blocks.
void hold(double low, double high, Finding& whole) {
  whole.low = std::min(whole.low, low - kMinHalfWidth);
  whole.high = std::max(whole.high, high + kMinHalfWidth);
}

/// Seconds per sample in one piece, at the most and at the least.
double longest_tau(const Interval& rates) { return (1 + kMinHalfWidth) / rates.low; }
double shortest_tau(const Interval& rates) { return (1 - kMinHalfWidth) / rates.high; }

/// A part that costs something in blocks costs nothing at the least.
void lower(Finding& part, double change) {
  part.low = std::min(part.low, std::max(0.0, 1 - (1 - part.low) * change));
}

void hold_live(const SustainedFigure& live, const RoundTable& rounds, Findings& findings) {
  const bool slower = live.change == SustainedChange::slower;
  const Interval& rates = *live.samples_per_second.interval;
  // Live may go on falling, or have fallen only in the middle of the half.
  const double long_run =
      slower ? std::max(live.slowest_tau, longest_tau(rates)) : shortest_tau(rates);
  findings.whole.high = std::max(findings.whole.high, 1 - rounds.tau(rounds.last()) / long_run);
  const double grown = long_run - rounds.tau(0);
  for (Finding& part : findings.parts) {
    if (!std::isfinite(part.low)) continue;
    const double change = 1 + grown / rounds.tau(part.part.from);
    if (change <= 0) {
      part.low = std::min(part.low, 0.0);
    } else if (slower) {
      part.high = std::max(part.high, 1 - (1 - part.high) / change);
    } else {
      lower(part, 1 / change);
    }
  }
}

/// Every boundary may have run as fast as the step alone did in its blocks.
void hold_ceiling(const SustainedFigure& ceiling, const RoundTable& rounds, Findings& findings) {
  const Interval& rates = *ceiling.samples_per_second.interval;
  const double in_blocks = rounds.tau(rounds.last());
  const bool slower = 1 / *ceiling.samples_per_second.value > in_blocks;
  const double grown = (slower ? longest_tau(rates) : shortest_tau(rates)) - in_blocks;
  for (Finding& part : findings.parts) {
    if (!std::isfinite(part.low)) continue;
    const double change = std::max(0.0, 1 + grown / rounds.tau(part.part.to));
    if (slower) {
      lower(part, change);
    } else {
      part.high = std::max(part.high, 1 - (1 - part.high) * change);
    }
  }
}

}  // namespace

SustainedFigures describe_sustained(const Measurements& measured, const VerdictState& state,
                                    const Waterfall& waterfall) {
  SustainedFigures figures;
  if (!measured.sustained || measured.verdict.table.rounds() == 0) return figures;
  figures.live = figure_of(measured, measured.sustained->live, 0);
  figures.ceiling = figure_of(measured, measured.sustained->ceiling, measured.stages());
  watch_for_stalls(measured, state, figures);
  if (!figures.live) return figures;
  const bool own_device = measured.chain.device_kind != DeviceKind::cpu;
  figures.ceiling_holds = figures.ceiling && own_device && step_may_slow_down(measured.chain);
  figures.ceiling_moved = own_device && changed(figures.ceiling);
  figures.loss = loss_of(figures.live->samples_per_second, ceiling_of(figures, waterfall));
  if (figures.live->change == SustainedChange::slower) find_slower_stage(measured, state, figures);
  figures.held_loss = loss_to_hold(state.decision.kind, measured.settings.min_drop, figures);
  return figures;
}

bool hold_sustained(const SustainedFigures& figures, const RoundTable& rounds, Findings& findings) {
  if (figures.stalled) {
    findings.whole.high = std::max(findings.whole.high, figures.stalled_loss);
    findings.whole.bursty = true;
  }
  if (figures.held_loss) hold(*figures.held_loss, *figures.held_loss, findings.whole);
  if (!figures.live) return figures.stalled;
  const bool moved = changed(figures.live) || figures.ceiling_moved;
  if (moved && figures.loss.interval) {
    hold(figures.loss.interval->low, figures.loss.interval->high, findings.whole);
  }
  if (changed(figures.live)) hold_live(*figures.live, rounds, findings);
  const bool holds_ceiling = figures.ceiling_holds || figures.ceiling_moved;
  if (holds_ceiling) hold_ceiling(*figures.ceiling, rounds, findings);
  return moved || figures.stalled || figures.held_loss || holds_ceiling;
}

VerdictKind kind_in_one_piece(VerdictKind kind, const SustainedFigures& figures, double least,
                              double min_drop) {
  if (kind == VerdictKind::flat && figures.stalled) return VerdictKind::inconclusive;
  if (kind == VerdictKind::drop && figures.outweighed) return VerdictKind::inconclusive;
  if (!figures.live || !figures.loss.interval) return kind;
  const SustainedChange live = figures.live->change;
  const bool small = figures.loss.interval->high < min_drop;
  if (kind == VerdictKind::flat) {
    const bool may_lose = live == SustainedChange::slower || figures.ceiling_moved;
    return may_lose && !small ? VerdictKind::inconclusive : kind;
  }
  const bool may_not_lose = live == SustainedChange::faster || figures.ceiling_moved;
  if (kind != VerdictKind::drop && kind != VerdictKind::spread) return kind;
  if (may_not_lose && small) return VerdictKind::flat;
  const bool may_gain = may_not_lose || figures.ceiling_holds;
  if (may_gain && kind == VerdictKind::drop && least <= min_drop) return VerdictKind::inconclusive;
  if (!may_not_lose) return kind;
  return figures.loss.interval->low > min_drop ? kind : VerdictKind::inconclusive;
}

std::string sustained_text(const Measurements& measured, const Waterfall& waterfall,
                           const SustainedFigures& figures) {
  const std::string lost = percent(std::max(0.0, figures.loss.value.value_or(0)));
  if (figures.outweighed || (figures.stalled && !changed(figures.live))) {
    return "Live stalls: they took " + percent(figures.stalls.share) + " of the " +
           duration(waterfall.live_loop.watched_seconds) +
           " that it was watched, and with stalls as rare as these the input may cost up to " +
           percent_at_most(figures.stalled_loss) +
           " in a long run. Short blocks met too few of them to tell which stage stalls.";
  }
  if (!changed(figures.live)) {
    return "The training step alone reaches " + in_one_piece(*figures.ceiling) + ", and " +
           rate(waterfall.ceiling.value.value_or(0)) +
           " in short blocks: in a long run the input costs " + lost + ".";
  }
  if (figures.live->change == SustainedChange::faster) {
    return "Live reaches " + in_one_piece(*figures.live) + ", " +
           (waterfall.live.value ? "and " + rate(*waterfall.live.value) : "and less") +
           " in short blocks, which begin with an empty ring: in a long run the input costs " +
           lost + ".";
  }
  std::string text = "Live does not keep its throughput: it falls to " +
                     in_one_piece(*figures.live) + ", from " +
                     rate(waterfall.live.value.value_or(0)) + " in short blocks, and then loses " +
                     lost + " against the ceiling.";
  if (figures.slower_stage > 0) {
    const auto s = static_cast<std::size_t>(figures.slower_stage) - 1;
    text += " " + measured.chain.stages.at(s).name + " takes " +
            short_duration(figures.slower_seconds) + " per sample then, and " +
            short_duration(figures.usual_seconds) +
            " in the blocks: storage with burst credits, a cache that fills, or throttling.";
  }
  return text;
}

std::vector<Warning> find_sustained_warnings(const Measurements& measured,
                                             const Waterfall& waterfall,
                                             const SustainedFigures& figures) {
  std::vector<Warning> out;
  if (changed(figures.live) || figures.stalled || figures.outweighed) {
    out.push_back({"not_sustained", sustained_text(measured, waterfall, figures),
                   "--sustain SECONDS watches it for longer"});
  }
  if (changed(figures.ceiling)) {
    out.push_back(
        {"not_sustained",
         "the training step alone reaches " + in_one_piece(*figures.ceiling) + ", and " +
             rate(waterfall.ceiling.value.value_or(0)) +
             " in short blocks: " + cause_of_change(measured),
         "let the machine cool, fix the clock, or read every drop as that of short bursts"});
  }
  return out;
}

}  // namespace cachebisect
