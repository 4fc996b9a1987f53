#include "cachebisect/bisect/report/sustained_runs.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

std::optional<SustainedFigure> figure_of(const Measurements& measured, const BlockResult& run,
                                         int boundary) {
  const RoundTable& rounds = measured.verdict.table;
  return sustained_figure(run, rounds.all_block_taus(boundary), measured.settings.confidence);
}

/// The ceiling to compare with: in one piece too if that differs from the blocks'.
Estimate ceiling_of(const SustainedFigures& figures, const Waterfall& waterfall) {
  const bool changed = figures.ceiling && figures.ceiling->change != SustainedChange::none;
  return changed ? figures.ceiling->samples_per_second : waterfall.ceiling;
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

std::string in_one_piece(const SustainedFigure& figure) {
  return rate(*figure.samples_per_second.value) + " samples/s after " + duration(figure.seconds) +
         " in one piece";
}

}  // namespace

SustainedFigures describe_sustained(const Measurements& measured, const VerdictState& state,
                                    const Waterfall& waterfall) {
  SustainedFigures figures;
  if (!measured.sustained || measured.verdict.table.rounds() == 0) return figures;
  figures.live = figure_of(measured, measured.sustained->live, 0);
  figures.ceiling = figure_of(measured, measured.sustained->ceiling, measured.stages());
  if (!figures.live) return figures;
  figures.loss = loss_of(figures.live->samples_per_second, ceiling_of(figures, waterfall));
  if (figures.live->change == SustainedChange::slower) find_slower_stage(measured, state, figures);
  return figures;
}

bool hold_sustained(const SustainedFigures& figures, const RoundTable& rounds, Findings& findings) {
  if (!figures.live || figures.live->change == SustainedChange::none) return false;
  if (figures.loss.interval) {
    findings.whole.low = std::min(findings.whole.low, figures.loss.interval->low);
    findings.whole.high = std::max(findings.whole.high, figures.loss.interval->high);
  }
  const bool slower = figures.live->change == SustainedChange::slower;
  const Interval& rates = *figures.live->samples_per_second.interval;
  // Live may go on falling, or have fallen only in the middle of the half.
  const double long_run =
      slower ? std::max(figures.live->slowest_tau, 1 / rates.low) : 1 / rates.high;
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
      // A part that costs something in blocks costs nothing at the least.
      part.low = std::min(part.low, std::max(0.0, 1 - (1 - part.low) / change));
    }
  }
  return true;
}

VerdictKind sustained_verdict(VerdictKind kind, const SustainedFigures& figures, double least,
                              double min_drop) {
  if (!figures.live || !figures.loss.interval) return kind;
  const bool small = figures.loss.interval->high < min_drop;
  switch (figures.live->change) {
    case SustainedChange::none:
      return kind;
    case SustainedChange::slower:
      return kind == VerdictKind::flat && !small ? VerdictKind::inconclusive : kind;
    case SustainedChange::faster:
      if (kind != VerdictKind::drop && kind != VerdictKind::spread) return kind;
      if (small) return VerdictKind::flat;
      if (kind == VerdictKind::drop && least <= min_drop) return VerdictKind::inconclusive;
      return figures.loss.interval->low > min_drop ? kind : VerdictKind::inconclusive;
  }
  return kind;
}

std::string sustained_text(const Measurements& measured, const Waterfall& waterfall,
                           const SustainedFigures& figures) {
  const std::string lost = percent(std::max(0.0, *figures.loss.value));
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
  if (figures.live && figures.loss.value && figures.live->change != SustainedChange::none) {
    out.push_back({"not_sustained", sustained_text(measured, waterfall, figures),
                   "--sustain SECONDS watches it for longer"});
  }
  if (figures.ceiling && figures.ceiling->change != SustainedChange::none) {
    out.push_back(
        {"not_sustained",
         "the training step alone reaches " + in_one_piece(*figures.ceiling) + ", and " +
             rate(waterfall.ceiling.value.value_or(0)) +
             " in short blocks: the clock, a power limit or other programs changed it",
         "let the machine cool, fix the clock, or read every drop as that of short bursts"});
  }
  return out;
}

}  // namespace cachebisect
