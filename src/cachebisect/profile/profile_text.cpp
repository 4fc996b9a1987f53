#include "cachebisect/profile/profile_text.hpp"

#include <algorithm>
#include <sstream>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/format/text_page.hpp"
#include "cachebisect/report/words/emulated_storage.hpp"

namespace cachebisect::profile {
namespace {

std::string workers_text(const ChainDescription& chain) {
  if (chain.workers == 0) return "loading inside the training thread";
  return std::to_string(chain.workers) + (chain.workers == 1 ? " worker" : " workers");
}

std::string heading(const Profile& profile, const TextPaint& paint, int columns) {
  const ChainDescription& chain = profile.chain;
  std::string line = paint.bold(printable(chain.name));
  if (chain.generated_data) line += "  (generated data)";
  const std::string storage = emulated_storage_text(chain.effective_json);
  const std::string job = "device " + printable(chain.device_name) + ", batch " +
                          std::to_string(chain.batch_size) + ", " + workers_text(chain) +
                          ", step: " + printable(chain.train) +
                          (storage.empty() ? "" : "; the storage is emulated (" + storage + ")");
  std::string what = "profiled: " + format_count(profile.steps) + " steps in " +
                     std::to_string(profile.cycles) +
                     (profile.cycles == 1 ? " cycle, " : " cycles, ") +
                     format_count(profile.samples) + " samples, " + format_seconds(profile.seconds);
  if (profile.interrupted) what += paint.bold("  (interrupted)");
  return line + '\n' + wrap(job, columns, 2) + wrap(what, columns, 2);
}

void add_rows(TextTable& table, const ActionGroup& group) {
  table.add({group.title, "", "", format_seconds(group.seconds), "100%"});
  for (const Action& action : group.actions) {
    const double calls = static_cast<double>(std::max<std::uint64_t>(action.calls, 1));
    table.add({"  " + printable(action.name), action.calls > 0 ? format_count(action.calls) : "",
               action.calls > 0 ? format_seconds(action.seconds / calls) : "",
               format_seconds(action.seconds),
               group.seconds > 0 ? format_percent(action.seconds / group.seconds) : ""});
  }
}

std::string action_table(const Profile& profile, const TextPaint& paint, int columns) {
  TextTable table({{"action", Align::left},
                   {"calls", Align::right},
                   {"mean", Align::right},
                   {"total", Align::right},
                   {"share", Align::right}});
  for (const ActionGroup& group : profile.groups) add_rows(table, group);
  return table.to_text(paint, columns);
}

/// Two lines per row: what called it is too long for a column.
void add_call(std::string& text, const std::string& line, const CallRow& row, int columns) {
  text += line + '\n';
  if (!row.path.empty()) text += wrap("    from " + printable(row.path), columns, 6);
}

/// The rows of a table, each followed by its path, and how many more there are.
std::string call_table(TextTable& table, const std::vector<CallRow>& shown, std::size_t all,
                       const TextPaint& paint, int columns) {
  std::istringstream lines(table.to_text(paint, columns));
  std::string line;
  std::getline(lines, line);
  std::string text = line + '\n';
  for (const CallRow& row : shown) {
    std::getline(lines, line);
    add_call(text, line, row, columns);
  }
  if (all > shown.size()) {
    text += "  and " + std::to_string(all - shown.size()) + " more: --top N\n";
  }
  return text;
}

std::vector<CallRow> first_of(std::vector<CallRow> rows, const CallView& view) {
  sort_rows(rows, view.order);
  rows.resize(std::min(rows.size(), view.top));
  return rows;
}

std::string operator_table(const Profile& profile, const TextPaint& paint, int columns,
                           const CallView& view) {
  if (profile.operators.empty()) return "";
  TextTable table({{"operators of the step", Align::left},
                   {"within", Align::left},
                   {"calls", Align::right},
                   {"mean", Align::right},
                   {"total", Align::right},
                   {"self", Align::right}});
  const std::vector<CallRow> rows = first_of(profile.operators, view);
  for (const CallRow& row : rows) {
    table.add({printable(row.name), row.where, format_count(row.calls),
               format_seconds(row.total_seconds / static_cast<double>(row.calls)),
               format_seconds(row.total_seconds), format_seconds(row.self_seconds)});
  }
  return '\n' + call_table(table, rows, profile.operators.size(), paint, columns);
}

std::string function_table(const Profile& profile, const TextPaint& paint, int columns,
                           const CallView& view) {
  if (profile.functions.empty()) return "";
  TextTable table({{"functions of the stages", Align::left},
                   {"within", Align::left},
                   {"samples", Align::right},
                   {"total", Align::right},
                   {"self", Align::right}});
  const std::vector<CallRow> rows = first_of(profile.functions, view);
  for (const CallRow& row : rows) {
    table.add({printable(row.name), printable(row.where), format_count(row.calls),
               format_seconds(row.total_seconds), format_seconds(row.self_seconds)});
  }
  return '\n' + call_table(table, rows, profile.functions.size(), paint, columns) +
         wrap(
             "CPU time, by samples; what a stage waits for is not in it, and functions that the "
             "compiler inlined count as their callers.",
             columns, 2);
}

std::string signed_percent(double share) {
  return (share > 0 ? "+" : "") + format_fixed(100 * share, 1) + "%";
}

std::string cost_text(const Profile& profile, int columns) {
  if (!profile.cost) return "";
  const ProfilingCost& cost = *profile.cost;
  std::string text = "Cost of profiling: " + signed_percent(cost.share) + " of a step";
  if (cost.interval) {
    text += " (95% interval " + signed_percent(cost.interval->low) + " to " +
            signed_percent(cost.interval->high) + ")";
  }
  text += ", from " + std::to_string(cost.pairs) + (cost.pairs == 1 ? " pair" : " pairs") +
          " of blocks with and without it, in turns.";
  return wrap(text, columns, 2);
}

bool of_script(const Profile& profile) { return !profile.chain.settings.of_file; }

/// What the figures mean on this device.
std::string notes(const Profile& profile, int columns) {
  std::string text;
  if (profile.chain.device_kind == DeviceKind::cuda && !of_script(profile)) {
    text += wrap(
        "The training thread only queues work for the GPU: its times are not the GPU's. "
        "`--profiler pytorch` shows both.",
        columns, 2);
  }
  if (profile.chain.device_kind == DeviceKind::cpu && !of_script(profile)) {
    text +=
        wrap("There is no copy: the training step reads the batches where they are.", columns, 2);
  }
  for (const std::string& finding : profile.findings) {
    text += wrap(as_sentence(printable(finding)), columns, 2);
  }
  if (profile.dropped > 0) {
    text += wrap(format_count(profile.dropped) +
                     " events were dropped because there was no room for them: lower --active.",
                 columns, 2);
  }
  return text;
}

}  // namespace

std::string to_text(const Profile& profile, const TextOptions& options, const CallView& calls) {
  const TextPage page(options);
  std::string text = heading(profile, page.paint, page.prose);
  text += '\n' + action_table(profile, page.paint, page.columns);
  text += operator_table(profile, page.paint, page.columns, calls);
  text += function_table(profile, page.paint, page.columns, calls);
  text += '\n' + cost_text(profile, page.prose) + notes(profile, page.prose);
  return text;
}

}  // namespace cachebisect::profile
