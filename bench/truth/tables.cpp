#include "bench/truth/tables.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "bench/truth/markdown.hpp"

#include "cachebisect/selftest/summary.hpp"

namespace cachebisect::truth {
namespace {

using selftest::Outcome;
using selftest::Score;
using selftest::ScorePredicate;
using Scores = std::vector<Score>;

constexpr double kQuietCv = 0.03;
constexpr double kShortStep = 10.5e-3;  ///< 10 ms, with a margin for rounding
constexpr double kLongStep = 25e-3;

bool any(const Score& /*score*/) { return true; }
bool is_right(const Score& s) { return s.outcome == Outcome::right; }
bool is_flat(const Score& s) { return s.shape == selftest::Pattern::flat; }

/// The largest drop lies in [min, max).
ScorePredicate drop_in(double min, double max = 1) {
  return [=](const Score& s) { return s.largest_drop >= min && s.largest_drop < max; };
}

ScorePredicate both(ScorePredicate a, ScorePredicate b) {
  return [a = std::move(a), b = std::move(b)](const Score& s) { return a(s) && b(s); };
}

bool usual_step(const Score& s) { return s.step_seconds <= kLongStep; }
bool short_chain(const Score& s) { return s.stages <= 12 && s.step_seconds <= kShortStep; }

std::string title(const ScoreFile& run) {
  return run.method + ", " + run.mode + ", " + format("%g s", run.budget_seconds);
}

using CellText = std::string (*)(const Scores&);
struct Row {
  const char* label;
  CellText cell;
};

/// Blocks until a drop of about 20% is certified, on chains of min to max stages.
std::string blocks_for(const Scores& scores, int min, int max) {
  std::vector<double> blocks;
  for (const Score& s : scores) {
    const bool counts = s.stages >= min && s.stages <= max && s.largest_drop >= 0.18 &&
                        s.largest_drop < 0.30 && s.expected == s.verdict && !s.jitter;
    if (counts) blocks.push_back(s.blocks);
  }
  if (blocks.empty()) return "-";
  return format("%.0f, %.0f", median(blocks), quantile(blocks, 0.9)) + " of " +
         std::to_string(blocks.size());
}

constexpr std::array kRows{
    Row{"chains", [](const Scores& s) { return std::to_string(s.size()); }},
    Row{"right, a drop of 10% or more, steps up to 25 ms",
        [](const Scores& s) { return cell(rate(s, both(drop_in(0.10), usual_step), is_right)); }},
    Row{"right, a drop of 20% or more, steps up to 25 ms",
        [](const Scores& s) { return cell(rate(s, both(drop_in(0.20), usual_step), is_right)); }},
    Row{"right, a drop of 10% or more, steps above 25 ms",
        [](const Scores& s) {
          const auto slow = [](const Score& x) { return !usual_step(x); };
          return cell(rate(s, both(drop_in(0.10), slow), is_right));
        }},
    Row{"right, all chains", [](const Scores& s) { return cell(rate(s, any, is_right)); }},
    Row{"wrong stage named",
        [](const Scores& s) {
          return cell(rate(s, any, [](const Score& x) { return x.wrong_stage; }));
        }},
    Row{"any wrong verdict",
        [](const Scores& s) {
          return cell(rate(s, any, [](const Score& x) { return x.outcome == Outcome::wrong; }));
        }},
    Row{"a drop reported on a flat chain",
        [](const Scores& s) {
          return cell(rate(s, is_flat, [](const Score& x) { return x.false_alarm; }));
        }},
    Row{"99% intervals cover the truth", [](const Scores& s) { return cell(coverage(s)); }},
    Row{"time to a verdict, a drop of 10% or more, n <= 12, steps <= 10 ms: median",
        [](const Scores& s) { return cell(seconds(s, both(drop_in(0.10), short_chain), 0.5)); }},
    Row{"the same: p90",
        [](const Scores& s) { return cell(seconds(s, both(drop_in(0.10), short_chain), 0.9)); }},
    Row{"time to a verdict, flat chains: median",
        [](const Scores& s) { return cell(seconds(s, is_flat, 0.5)); }},
    Row{"blocks for a drop of about 20%, constant costs, n = 7 to 9: median, p90",
        [](const Scores& s) { return blocks_for(s, 7, 9); }},
    Row{"the same, n = 28 to 30", [](const Scores& s) { return blocks_for(s, 28, 30); }}};

/// The chains of a run whose blocks were as quiet as the acceptance table's first column asks.
ScoreFile quiet_part(const ScoreFile& run) {
  ScoreFile quiet = run;
  quiet.mode += ", blocks' cv <= 3%";
  std::erase_if(quiet.scores, [](const Score& s) { return !s.block_cv || *s.block_cv > kQuietCv; });
  return quiet;
}

void acceptance(Markdown& out, const std::vector<ScoreFile>& runs) {
  std::vector<std::string> head{"figure"};
  for (const ScoreFile& run : runs) head.push_back(title(run));
  out.heading("Acceptance");
  out.header(head);
  for (const Row& row : kRows) {
    std::vector<std::string> cells{row.label};
    for (const ScoreFile& run : runs) cells.push_back(row.cell(run.scores));
    out.row(cells);
  }
}

void confusion(Markdown& out, const ScoreFile& run) {
  static const std::vector<std::string> kOrder{"read",   "decode", "augment", "collate",     "copy",
                                               "spread", "flat",   "anomaly", "inconclusive"};
  std::map<std::string, std::map<std::string, int>> counts;
  std::set<std::string> named;
  for (const Score& s : run.scores) {
    ++counts[s.expected_category][s.named_category];
    named.insert(s.named_category);
  }
  std::vector<std::string> columns;
  std::copy_if(kOrder.begin(), kOrder.end(), std::back_inserter(columns),
               [&](const std::string& name) { return named.contains(name); });
  std::vector<std::string> head{"planted \\ named"};
  head.insert(head.end(), columns.begin(), columns.end());
  out.line("Category of the stage named against that of the stage that truly costs most:\n");
  out.header(head);
  for (const std::string& expected : kOrder) {
    if (!counts.contains(expected)) continue;
    std::vector<std::string> cells{expected};
    for (const std::string& name : columns) {
      cells.push_back(std::to_string(counts[expected][name]));
    }
    out.row(cells);
  }
}

template <typename Key>
void outcomes_by(Markdown& out, const std::string& what, const Scores& scores, const Key& key) {
  std::map<std::string, Scores> groups;
  for (const Score& s : scores) groups[key(s)].push_back(s);
  out.line("");
  out.header({what, "right", "wrong", "inconclusive", "intervals cover"});
  for (const auto& [name, group] : groups) {
    const auto count = [&](Outcome outcome) {
      return std::to_string(std::count_if(group.begin(), group.end(),
                                          [&](const Score& s) { return s.outcome == outcome; }));
    };
    out.row({name, count(Outcome::right), count(Outcome::wrong), count(Outcome::inconclusive),
             cell(coverage(group))});
  }
}

std::string drop_class(const Score& s) {
  if (s.largest_drop < 0.05) return "a: below 5%";
  if (s.largest_drop < 0.10) return "b: 5 to 10%";
  if (s.largest_drop < 0.20) return "c: 10 to 20%";
  return s.largest_drop < 0.50 ? "d: 20 to 50%" : "e: 50% and more";
}

std::string kind_of(const Score& s) {
  if (s.planted.empty()) return selftest::to_string(s.shape);
  return s.planted.find('+') == std::string::npos ? s.planted : "two of them";
}

void times(Markdown& out, const Scores& scores) {
  struct Group {
    const char* label;
    int min;
    int max;
  };
  static constexpr std::array kGroups{Group{"3 to 6", 3, 6}, Group{"7 to 12", 7, 12},
                                      Group{"13 to 20", 13, 20}, Group{"21 to 30", 21, 30},
                                      Group{"31 to 64", 31, 64}};
  static constexpr std::array<std::array<double, 2>, 4> kDrops{
      {{0.05, 0.10}, {0.10, 0.20}, {0.20, 0.50}, {0.50, 1.0}}};
  out.line("\nTime to a verdict, steps up to 25 ms: median, p90:\n");
  out.header({"n", "flat", "5 to 10%", "10 to 20%", "20 to 50%", "50% and more"});
  for (const Group& group : kGroups) {
    const ScorePredicate here = [&](const Score& s) {
      return s.stages >= group.min && s.stages <= group.max && s.step_seconds <= kLongStep;
    };
    if (rate(scores, here, any).whole == 0) continue;
    const auto both_times = [&](const ScorePredicate& among) {
      const auto middle = seconds(scores, both(here, among), 0.5);
      if (!middle) return std::string("-");
      return format("%.1f s, %.1f s", *middle, *seconds(scores, both(here, among), 0.9));
    };
    std::vector<std::string> cells{group.label, both_times(is_flat)};
    for (const auto& range : kDrops) cells.push_back(both_times(drop_in(range[0], range[1])));
    out.row(cells);
  }
}

void details(Markdown& out, const ScoreFile& run) {
  out.heading(title(run));
  out.line("Machine: " + run.machine + "; " + run.date + "; revision " + run.git + ".\n");
  confusion(out, run);
  const Scores& scores = run.scores;
  outcomes_by(out, "shape", scores,
              [](const Score& s) { return std::string(selftest::to_string(s.shape)); });
  outcomes_by(out, "planted", scores, kind_of);
  outcomes_by(out, "workers", scores, [](const Score& s) { return std::to_string(s.workers); });
  outcomes_by(out, "largest drop", scores, drop_class);
  outcomes_by(out, "costs", scores, [](const Score& s) {
    return std::string(s.jitter ? "lognormal or heavy-tailed" : "constant");
  });
  times(out, scores);
}

}  // namespace

std::string markdown(const std::vector<ScoreFile>& runs) {
  Markdown out;
  std::vector<ScoreFile> columns;
  for (const ScoreFile& run : runs) {
    columns.push_back(run);
    const bool real = run.mode.starts_with("real time");
    if (real && run.method == "bisect") columns.push_back(quiet_part(run));
  }
  acceptance(out, columns);
  for (const ScoreFile& run : runs) {
    if (run.method == "bisect") details(out, run);
  }
  return out.take();
}

}  // namespace cachebisect::truth
