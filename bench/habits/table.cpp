#include "bench/habits/table.hpp"

#include <algorithm>
#include <optional>

#include "bench/truth/markdown.hpp"

#include "cachebisect/selftest/summary.hpp"

namespace cachebisect::habits {
namespace {

using selftest::Outcome;
using selftest::Rate;
using selftest::Score;
using Scores = std::vector<HabitScore>;

std::vector<Score> plain(const Scores& scores) {
  std::vector<Score> result;
  for (const HabitScore& score : scores) result.push_back(score.score);
  return result;
}

bool any(const Score& /*score*/) { return true; }

Rate rate_of(const std::vector<Score>& scores, Outcome outcome) {
  return selftest::rate(scores, any, [=](const Score& s) { return s.outcome == outcome; });
}

std::string inconclusive(const Scores& scores, const std::vector<Score>& judged) {
  const auto named =
      std::ranges::count_if(scores, [](const HabitScore& s) { return s.names_cause; });
  const Rate rate = rate_of(judged, Outcome::inconclusive);
  return truth::cell(rate) + (rate.part > 0 ? " (" + std::to_string(named) + " name it)" : "");
}

std::string times(const std::vector<Score>& scores) {
  const std::optional<double> middle = selftest::seconds(scores, any, 0.5);
  const std::optional<double> late = selftest::seconds(scores, any, 0.9);
  return truth::cell(middle) + ", " + truth::cell(late);
}

void add_row(truth::Markdown& out, const std::string& label, const Scores& scores) {
  const std::vector<Score> judged = plain(scores);
  out.row({label, truth::cell(rate_of(judged, Outcome::right)), inconclusive(scores, judged),
           truth::cell(rate_of(judged, Outcome::wrong)), truth::cell(selftest::coverage(judged)),
           times(judged)});
}

/// Names in the order in which they were first judged.
std::vector<std::string> habits_of(const Scores& scores) {
  std::vector<std::string> names;
  for (const HabitScore& score : scores) {
    const std::string& name = score.score.planted;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

void add_wrong(truth::Markdown& out, const Scores& scores) {
  const auto is_wrong = [](const HabitScore& s) { return s.score.outcome == Outcome::wrong; };
  if (std::ranges::none_of(scores, is_wrong)) return;
  out.line("\nWrong verdicts:\n");
  out.header({"habit", "seed", "costliest stage", "named", "sentence"});
  for (const HabitScore& score : scores) {
    const Score& s = score.score;
    if (!is_wrong(score)) continue;
    out.row({s.planted, std::to_string(s.seed),
             s.expected + truth::format(" (%.0f%%)", 100 * s.largest_drop), s.verdict,
             score.sentence});
  }
}

void add_file(truth::Markdown& out, const HabitFile& file) {
  const truth::ScoreFile& made = file.made;
  out.heading("Habits, " + truth::format("%g s", made.budget_seconds));
  out.line("Machine: " + made.machine + "; " + made.date + "; revision " + made.git + ".\n");
  out.header({"habit", "right", "inconclusive", "wrong", "99% intervals cover the truth",
              "time to a verdict: median, p90"});
  for (const std::string& name : habits_of(file.scores)) {
    Scores group;
    std::ranges::copy_if(file.scores, std::back_inserter(group),
                         [&](const HabitScore& s) { return s.score.planted == name; });
    add_row(out, name, group);
  }
  add_row(out, "all", file.scores);
  add_wrong(out, file.scores);
}

}  // namespace

std::string markdown(const std::vector<HabitFile>& files) {
  truth::Markdown out;
  for (const HabitFile& file : files) add_file(out, file);
  return out.take();
}

}  // namespace cachebisect::habits
