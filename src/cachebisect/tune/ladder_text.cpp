#include "cachebisect/tune/ladder_text.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/report/words/remedy_text.hpp"

namespace cachebisect::tune {
namespace {

std::string signed_share(double share) {
  return (share < 0 ? "-" : "+") + format_percent(std::abs(share));
}

std::string rate_text(const std::optional<double>& rate) {
  return rate ? format_rate(*rate, std::nullopt) : "-";
}

/// "+60% (59 to 66%)".
std::string share_text(const Estimate& share) {
  if (!share.value) return "-";
  const std::string text = signed_share(*share.value);
  return share.interval ? text + " (" + percent_range(*share.interval) + ")" : text;
}

std::string measured_text(const Trial& trial) {
  return trial.fault.empty() ? share_text(trial.measured) : "cannot run";
}

/// Where a version stands: samples/s, milliseconds per step, share of the ceiling, times the start.
document::Row standing(const Result& result, const std::optional<double>& rate,
                       const std::optional<double>& step) {
  const auto over = [&](const std::optional<double>& whole) {
    return rate && whole && *whole > 0 ? std::optional(*rate / *whole) : std::nullopt;
  };
  const auto share = over(result.ceiling.value);
  const auto times = over(result.start.value);
  return {rate_text(rate), step ? format_fixed(*step * 1e3, 2) : "-",
          share ? format_percent(*share) : "-", times ? format_fixed(*times, 2) : "-"};
}

document::Row row(const Trial& trial, int number, const Result& result) {
  document::Row cells{std::to_string(number), share_text(trial.predicted), measured_text(trial)};
  const document::Row stands = trial.kept
                                   ? standing(result, trial.samples_per_second, trial.step_seconds)
                                   : document::Row(4);
  cells.insert(cells.end(), stands.begin(), stands.end());
  return cells;
}

/// A row per trial, by the number that it has in change_list(). Those that were not kept stand
/// nowhere.
document::Table ladder(const Result& result) {
  document::Table table{.columns = {{""},
                                    {"predicted", Align::right},
                                    {"measured (99%)", Align::right},
                                    {"samples/s", Align::right},
                                    {"step ms", Align::right},
                                    {"ceiling", Align::right},
                                    {"x start", Align::right}}};
  document::Row first{"start", "", ""};
  const document::Row start = standing(result, result.start.value, result.start_seconds);
  first.insert(first.end(), start.begin(), start.end());
  table.rows.push_back(std::move(first));
  int number = 0;
  for (const Trial& trial : result.trials) table.rows.push_back(row(trial, ++number, result));
  return table;
}

/// What became of what it wrote.
std::string written_text(const Trial& trial) {
  if (trial.folder.empty()) return "";
  return trial.removed ? "; what it wrote is removed" : "; what it wrote is in " + trial.folder;
}

std::string outcome(const Trial& trial) {
  if (!trial.fault.empty()) return "cannot run: " + trial.fault + written_text(trial);
  return (trial.kept ? "kept" : "not kept") + written_text(trial);
}

/// What could be tried as well, and how.
std::string untried_text(const Result& result) {
  std::string text;
  for (const Trial& trial : result.untried) {
    const std::string gain = share_text(trial.predicted);
    text += (text.empty() ? "With --scratch FOLDER it also tries: " : "; ") + trial.text +
            (gain == "-" ? "" : ": " + gain + " predicted");
  }
  return text.empty() ? text : text + ".";
}

/// The lines that make a change.
std::vector<std::string> code_of(const Trial& trial) {
  std::vector<std::string> code = trial.lines;
  if (!code.empty()) return code;
  for (const Edit& edit : trial.edits) code.push_back(edit_text(edit));
  return code;
}

document::List change_list(const Result& result) {
  document::List all{.items = {}, .numbered = true};
  for (const Trial& trial : result.trials) {
    all.items.push_back({trial.text + ": " + outcome(trial), "",
                         trial.kept ? code_of(trial) : std::vector<std::string>()});
  }
  return all;
}

}  // namespace

std::string to_text(const Result& result, const TextOptions& options) {
  Document all;
  all.add(document::Heading{
      result.name,
      2,
      {"device " + result.device + "; ceiling " + rate_text(result.ceiling.value) + " samples/s"}});
  all.gap();
  all.add(ladder(result));
  all.gap();
  all.add(change_list(result));
  all.gap();
  all.say(as_sentence(result.end) + " " + counted(result.trials.size(), "change") + " tried, " +
          std::to_string(result.kept()) + " kept, in " + format_seconds(result.seconds) +
          " of measuring.");
  all.say(untried_text(result));
  all.say(result.verdict);
  return to_text(all, options);
}

}  // namespace cachebisect::tune
