// The trend of a history, for a terminal.
#include <algorithm>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/history/history_jobs.hpp"

namespace cachebisect {
namespace {

std::string rate_text(const Estimate& rate) {
  return rate.value ? format_rate(*rate.value, rate.interval) : "-";
}

document::Text rate_bar(const Estimate& rate, double largest) {
  if (!rate.value || !(largest > 0) || !(*rate.value >= 0)) return {};
  return document::bar(*rate.value / largest);
}

double largest_live(const HistoryJob& job) {
  double largest = 0;
  for (const HistoryEntry* entry : job.runs) {
    largest = std::max(largest, entry->live.value.value_or(0));
  }
  return largest;
}

document::Table runs_table(const HistoryJob& job) {
  document::Table table{.columns = {{"started (UTC)"},
                                    {"live/s", Align::right},
                                    {.title = "", .bars = 12},
                                    {"ceiling/s", Align::right},
                                    {"verdict"}}};
  const double largest = largest_live(job);
  for (const HistoryEntry* entry : job.runs) {
    table.rows.push_back({history_minute(entry->started), rate_text(entry->live),
                          rate_bar(entry->live, largest), rate_text(entry->ceiling),
                          history_verdict(*entry)});
  }
  return table;
}

}  // namespace

std::string history_text(const std::vector<HistoryEntry>& entries,
                         const HistorySelection& selection, const TextOptions& options) {
  Document all;
  for (const HistoryJob& job : history_jobs(entries, selection)) {
    all.gap();
    all.add(document::Heading{history_heading(job)});
    all.gap();
    all.add(runs_table(job));
    all.say(history_change(job), 2);
  }
  if (all.empty()) all.say("no runs");
  return to_text(all, options);
}

}  // namespace cachebisect
