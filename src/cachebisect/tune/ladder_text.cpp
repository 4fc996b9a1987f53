#include "cachebisect/tune/ladder_text.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/format/text_page.hpp"
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
std::vector<std::string> standing(const Result& result, const std::optional<double>& rate,
                                  const std::optional<double>& step) {
  const auto over = [&](const std::optional<double>& whole) {
    return rate && whole && *whole > 0 ? std::optional(*rate / *whole) : std::nullopt;
  };
  const auto share = over(result.ceiling.value);
  const auto times = over(result.start.value);
  return {rate_text(rate), step ? format_fixed(*step * 1e3, 2) : "-",
          share ? format_percent(*share) : "-", times ? format_fixed(*times, 2) : "-"};
}

std::vector<std::string> row(const Trial& trial, int number, const Result& result) {
  std::vector<std::string> cells{std::to_string(number), share_text(trial.predicted),
                                 measured_text(trial)};
  const std::vector<std::string> stands =
      trial.kept ? standing(result, trial.samples_per_second, trial.step_seconds)
                 : std::vector<std::string>(4);
  cells.insert(cells.end(), stands.begin(), stands.end());
  return cells;
}

/// A row per trial, by the number that it has in changes_text(). Those that were not kept stand
/// nowhere.
TextTable ladder(const Result& result) {
  TextTable table({{""},
                   {"predicted", Align::right},
                   {"measured (99%)", Align::right},
                   {"samples/s", Align::right},
                   {"step ms", Align::right},
                   {"ceiling", Align::right},
                   {"x start", Align::right}});
  std::vector<std::string> first{"start", "", ""};
  const std::vector<std::string> start = standing(result, result.start.value, result.start_seconds);
  first.insert(first.end(), start.begin(), start.end());
  table.add(std::move(first));
  int number = 0;
  for (const Trial& trial : result.trials) table.add(row(trial, ++number, result));
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
std::string untried_text(const Result& result, int columns) {
  std::string text;
  for (const Trial& trial : result.untried) {
    const std::string gain = share_text(trial.predicted);
    text += (text.empty() ? "With --scratch FOLDER it also tries: " : "; ") + trial.text +
            (gain == "-" ? "" : ": " + gain + " predicted");
  }
  return text.empty() ? text : wrap(printable(text + "."), columns, 0);
}

std::string changes_text(const Result& result, int columns) {
  std::string text;
  int number = 0;
  for (const Trial& trial : result.trials) {
    text += wrap(std::to_string(++number) + ". " + printable(trial.text + ": " + outcome(trial)),
                 columns, 3);
    if (!trial.kept) continue;
    for (const std::string& line : trial.lines) text += "   " + printable(line) + '\n';
    if (!trial.lines.empty()) continue;
    for (const Edit& edit : trial.edits) text += "   " + printable(edit_text(edit)) + '\n';
  }
  return text.empty() ? text : text + '\n';
}

}  // namespace

std::string to_text(const Result& result, const TextOptions& options) {
  const TextPage page(options);
  const std::string summary = as_sentence(result.end) + " " +
                              counted(result.trials.size(), "change") + " tried, " +
                              std::to_string(result.kept()) + " kept, in " +
                              format_seconds(result.seconds) + " of measuring.";
  return page.paint.bold(printable(result.name)) + "  device " + printable(result.device) +
         "; ceiling " + rate_text(result.ceiling.value) + " samples/s\n\n" +
         ladder(result).to_text(page.paint, page.columns) + '\n' +
         changes_text(result, page.prose) + wrap(printable(summary), page.prose, 0) +
         untried_text(result, page.prose) + wrap(printable(result.verdict), page.prose, 0);
}

}  // namespace cachebisect::tune
