// The terminal report: 80 columns, readable without colour.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/report/printable_report.hpp"
#include "cachebisect/report/text_consequences.hpp"
#include "cachebisect/report/text_layout.hpp"
#include "cachebisect/report/what_if_text.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

constexpr int kBarColumns = 10;

std::string rounds_line(const Report& report, const TextPaint& paint, int columns) {
  const Timing& timing = report.timing;
  std::string line = std::to_string(report.verdict.rounds) + " rounds in " +
                     format_seconds(timing.measure_seconds - timing.explain_seconds);
  if (timing.explain_seconds > 0.05) {
    line += " + " + format_seconds(timing.explain_seconds) + " to explain";
  }
  line += ", " + std::to_string(report.cache.samples) + " samples cached at each boundary";
  if (report.interrupted) line += paint.bold("  (interrupted)");
  return wrap(line, columns, 2);
}

std::string workers_text(const ChainDescription& chain) {
  if (chain.workers == 0) return "loading inside the training thread";
  std::string text = std::to_string(chain.workers) + (chain.workers == 1 ? " worker" : " workers");
  if (chain.worker_search) text += " (auto)";
  if (chain.workers > 1 && chain.loader == LoaderKind::batch) text += ", a batch each";
  return text;
}

std::string heading(const Report& report, const TextPaint& paint, int columns) {
  const ChainDescription& chain = report.chain;
  std::string line = paint.bold(chain.name);
  if (!chain.file.empty() && chain.file != chain.name) line += "  " + chain.file;
  if (chain.generated_data) line += "  (generated data)";
  std::string job = "device " + chain.device_name;
  if (chain.ranks > 1) job += ", " + std::to_string(chain.ranks) + " ranks, each";
  job += (chain.ranks > 1 ? " batch " : ", batch ") + std::to_string(chain.batch_size) + ", " +
         workers_text(chain);
  if (!chain.train.empty()) job += ", step: " + chain.train;
  line += '\n' + wrap(job, columns, 2);
  line += rounds_line(report, paint, columns);
  if (report.settings.order_nonce) {
    line += "reading began at --nonce " + std::to_string(*report.settings.order_nonce) + '\n';
  }
  return line;
}

// Boundaries without an interval stay out, except that both ends of the table are always there.
bool has_row(const Report& report, std::size_t boundary) {
  const bool end = boundary == 0 || boundary + 1 >= report.boundaries.size();
  return end || report.boundaries[boundary].samples_per_second.interval;
}

// The row above, towards the device. The stages that join in a row lie between the two.
std::size_t row_above(const Report& report, std::size_t boundary) {
  std::size_t above = boundary + 1;
  while (!has_row(report, above)) ++above;
  return above;
}

// Samples/s of a row; empty without an interval. A row that is not certainly faster than the
// ceiling is at most as fast.
std::optional<double> row_rate(const Report& report, std::size_t boundary) {
  const Estimate& rate = report.boundaries[boundary].samples_per_second;
  if (!rate.value || !rate.interval) return std::nullopt;
  const double ceiling = report.ceiling.value.value_or(*rate.value);
  return rate.interval->low > ceiling ? *rate.value : std::min(*rate.value, ceiling);
}

std::string row_label(const Report& report, std::size_t boundary) {
  constexpr std::size_t kMaxNames = 3;
  if (boundary + 1 >= report.boundaries.size()) return "step alone (ceiling)";
  const std::size_t above = std::min(row_above(report, boundary), report.stages.size());
  std::string names = "+ ";
  if (above - boundary <= kMaxNames) {
    for (std::size_t s = boundary; s < above; ++s) {
      names += (s > boundary ? ", " : "") + report.stages[s].name;
    }
  } else {
    names += report.stages[boundary].name + " ... " + report.stages[above - 1].name + " (" +
             std::to_string(above - boundary) + ")";
  }
  return boundary == 0 ? names + " = live" : names;
}

std::string bar(double share) {
  const int filled = std::clamp(static_cast<int>(std::lround(share * kBarColumns)), 0, kBarColumns);
  std::string text(static_cast<std::size_t>(filled), '#');
  return text;
}

// The drop of the stages that join in this row.
std::optional<double> joined_drop(const Report& report, std::size_t boundary) {
  if (boundary + 1 >= report.boundaries.size()) return std::nullopt;
  const auto rate = row_rate(report, boundary);
  const auto above = row_rate(report, row_above(report, boundary));
  return rate && above ? std::optional(1 - *rate / *above) : std::nullopt;
}

std::string rate_interval(const Estimate& estimate) {
  if (!estimate.interval) return "";
  return format_rate(estimate.interval->low, estimate.interval) + " - " +
         format_rate(estimate.interval->high, estimate.interval);
}

void add_boundary_row(TextTable& table, const Report& report, std::size_t boundary,
                      const TextPaint& paint) {
  const auto rate = row_rate(report, boundary);
  if (!rate) {
    table.add({row_label(report, boundary), "-", "too few rounds", "", "", ""});
    return;
  }
  const Estimate& measured = report.boundaries[boundary].samples_per_second;
  std::string share;
  if (report.ceiling.value && *report.ceiling.value > 0)
    share = format_percent(*rate / *report.ceiling.value);
  std::string lost;
  std::string drawn;
  if (const std::optional<double> drop = joined_drop(report, boundary)) {
    lost = format_percent(*drop);
    drawn = paint.loss(bar(*drop));
  }
  table.add({row_label(report, boundary), format_rate(*rate, measured.interval),
             rate_interval(measured), share, lost, drawn});
}

std::string boundary_table(const Report& report, const TextPaint& paint) {
  if (report.boundaries.empty()) return "";
  const std::string confidence = format_percent(report.settings.confidence);
  TextTable table({{"stages live", Align::left},
                   {"samples/s", Align::right},
                   {confidence + " interval", Align::right},
                   {"of ceiling", Align::right},
                   {"lost here", Align::right},
                   {"", Align::left}});
  for (std::size_t i = report.boundaries.size(); i-- > 0;) {
    if (has_row(report, i)) add_boundary_row(table, report, i, paint);
  }
  return table.to_text(paint);
}

// An edit in words. "/-" at the end of a path appends, as in JSON Patch; null removes.
std::string edit_line(const Edit& edit) {
  if (edit.value == "null") return "in the file: remove " + edit.path;
  if (edit.path.ends_with("/-")) {
    return "in the file: append to " + edit.path.substr(0, edit.path.size() - 2) + ": " +
           edit.value;
  }
  return "in the file: " + edit.path + " = " + edit.value;
}

std::string remedies(const Report& report, const TextPaint& paint, int columns) {
  if (report.remedies.empty()) return "";
  std::string text = paint.bold("Things to try") + "\n";
  int number = 1;
  for (const Remedy& remedy : report.remedies) {
    text += wrap(std::to_string(number++) + ". " + as_sentence(remedy.text), columns, 3);
    text += wrap("   " + as_sentence(remedy.reason), columns, 3);
    const std::string gain = remedy_gain(remedy);
    if (!gain.empty()) text += "     " + gain + "\n";
    for (const std::string& flag : remedy.flags) text += "     " + flag + "\n";
    for (const Edit& edit : remedy.edits) text += wrap("     " + edit_line(edit), columns, 7);
    for (const std::string& line : remedy.lines) text += wrap("     " + line, columns, 7);
  }
  return text;
}

std::string warnings(const Report& report, const TextPaint& paint, int columns) {
  std::string text;
  for (const Warning& warning : report.warnings) {
    text += wrap(paint.warning("warning") + ": " + as_sentence(warning.text) +
                     (warning.remedy.empty() ? "" : " " + as_sentence(warning.remedy)),
                 columns, 2);
    for (const std::string& line : warning.details) text += "    " + line + "\n";
  }
  return text;
}

}  // namespace

std::string to_text(const Report& raw, const TextOptions& options) {
  const Report report = printable_report(raw);
  const TextPaint paint(options.color);
  std::string text = heading(report, paint, options.columns);
  const auto add = [&text](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add(boundary_table(report, paint));
  add(wrap(paint.bold(report.verdict.text), options.columns, 0));
  text += consequences_text(report, options.columns);
  add(what_if_table(report, paint, options.columns));
  add(remedies(report, paint, options.columns));
  add(warnings(report, paint, options.columns));
  return text;
}

}  // namespace cachebisect
