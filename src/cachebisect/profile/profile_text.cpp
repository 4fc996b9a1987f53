#include "cachebisect/profile/profile_text.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/report/words/emulated_storage.hpp"

namespace cachebisect::profile {
namespace {

std::string workers_text(const ChainDescription& chain) {
  if (chain.workers == 0) return "loading inside the training thread";
  return std::to_string(chain.workers) + (chain.workers == 1 ? " worker" : " workers");
}

void add_heading(Document& all, const Profile& profile) {
  const ChainDescription& chain = profile.chain;
  document::Heading heading{chain.name, 2};
  if (chain.generated_data) heading.details.emplace_back("(generated data)");
  all.add(std::move(heading));
  const std::string storage = emulated_storage_text(chain.effective_json);
  all.say("device " + chain.device_name + ", batch " + std::to_string(chain.batch_size) + ", " +
              workers_text(chain) + ", step: " + chain.train +
              (storage.empty() ? "" : "; the storage is emulated (" + storage + ")"),
          2);
  document::Text what =
      "profiled: " + format_count(profile.steps) + " steps in " + std::to_string(profile.cycles) +
      (profile.cycles == 1 ? " cycle, " : " cycles, ") + format_count(profile.samples) +
      " samples, " + format_seconds(profile.seconds);
  if (profile.interrupted) what += " " + document::strong("(interrupted)");
  all.say(what, 2);
}

void add_rows(document::Table& table, const ActionGroup& group) {
  table.rows.push_back({group.title, "", "", format_seconds(group.seconds), "100%"});
  for (const Action& action : group.actions) {
    const double calls = static_cast<double>(std::max<std::uint64_t>(action.calls, 1));
    table.rows.push_back({"  " + action.name, action.calls > 0 ? format_count(action.calls) : "",
                          action.calls > 0 ? format_seconds(action.seconds / calls) : "",
                          format_seconds(action.seconds),
                          group.seconds > 0 ? format_percent(action.seconds / group.seconds) : ""});
  }
}

document::Table action_table(const Profile& profile) {
  document::Table table{.columns = {{"action"},
                                    {"calls", Align::right},
                                    {"mean", Align::right},
                                    {"total", Align::right},
                                    {"share", Align::right}}};
  for (const ActionGroup& group : profile.groups) add_rows(table, group);
  return table;
}

/// The caller of a row is too long for the same line.
document::Column called_from() { return {.title = "called from", .below = true}; }

document::Text path_text(const CallRow& row) {
  return row.path.empty() ? document::Text() : "from " + row.path;
}

/// The table, and how many rows there are more.
void add_calls(Document& all, const document::Table& table, std::size_t rows) {
  all.gap();
  all.add(table);
  if (rows > table.rows.size()) {
    all.say("  and " + std::to_string(rows - table.rows.size()) + " more: --top N");
  }
}

std::vector<CallRow> first_of(std::vector<CallRow> rows, const CallView& view) {
  sort_rows(rows, view.order);
  rows.resize(std::min(rows.size(), view.top));
  return rows;
}

void add_operators(Document& all, const Profile& profile, const CallView& view) {
  document::Table table{.columns = {{"operators of the step"},
                                    {"within"},
                                    {"calls", Align::right},
                                    {"mean", Align::right},
                                    {"total", Align::right},
                                    {"self", Align::right},
                                    called_from()}};
  for (const CallRow& row : first_of(profile.operators, view)) {
    table.rows.push_back({row.name, row.where, format_count(row.calls),
                          format_seconds(row.total_seconds / static_cast<double>(row.calls)),
                          format_seconds(row.total_seconds), format_seconds(row.self_seconds),
                          path_text(row)});
  }
  add_calls(all, table, profile.operators.size());
}

void add_functions(Document& all, const Profile& profile, const CallView& view) {
  if (profile.functions.empty()) return;
  document::Table table{.columns = {{"functions of the stages"},
                                    {"within"},
                                    {"samples", Align::right},
                                    {"total", Align::right},
                                    {"self", Align::right},
                                    called_from()}};
  for (const CallRow& row : first_of(profile.functions, view)) {
    table.rows.push_back({row.name, row.where, format_count(row.calls),
                          format_seconds(row.total_seconds), format_seconds(row.self_seconds),
                          path_text(row)});
  }
  add_calls(all, table, profile.functions.size());
  all.say(
      "CPU time, by samples; what a stage waits for is not in it, and functions that the compiler "
      "inlined count as their callers.",
      2);
}

std::string signed_percent(double share) {
  return (share > 0 ? "+" : "") + format_fixed(100 * share, 1) + "%";
}

std::string cost_text(const Profile& profile) {
  if (!profile.cost) return "";
  const ProfilingCost& cost = *profile.cost;
  std::string text = "Cost of profiling: " + signed_percent(cost.share) + " of a step";
  if (cost.interval) {
    text += " (95% interval " + signed_percent(cost.interval->low) + " to " +
            signed_percent(cost.interval->high) + ")";
  }
  text += ", from " + std::to_string(cost.pairs) + (cost.pairs == 1 ? " pair" : " pairs") +
          " of blocks with and without it, in turns.";
  return text;
}

bool of_script(const Profile& profile) { return !profile.chain.settings.of_file; }

/// What the figures mean on this device.
void add_notes(Document& all, const Profile& profile) {
  if (profile.chain.device_kind == DeviceKind::cuda && !of_script(profile)) {
    all.say(
        "The training thread only queues work for the GPU: its times are not the GPU's. "
        "`--profiler pytorch` shows both.",
        2);
  }
  if (profile.chain.device_kind == DeviceKind::cpu && !of_script(profile)) {
    all.say("There is no copy: the training step reads the batches where they are.", 2);
  }
  for (const std::string& finding : profile.findings) all.say(as_sentence(finding), 2);
  if (profile.dropped > 0) {
    all.say(format_count(profile.dropped) +
                " events were dropped because there was no room for them: lower --active.",
            2);
  }
}

}  // namespace

std::string to_text(const Profile& profile, const TextOptions& options, const CallView& calls) {
  Document all;
  add_heading(all, profile);
  all.gap();
  all.add(action_table(profile));
  add_operators(all, profile, calls);
  add_functions(all, profile, calls);
  all.gap();
  all.say(cost_text(profile), 2);
  add_notes(all, profile);
  return to_text(all, options);
}

}  // namespace cachebisect::profile
