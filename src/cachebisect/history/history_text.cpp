// The trend of a history, for a terminal.
#include <algorithm>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/text_page.hpp"
#include "cachebisect/history/history_jobs.hpp"

namespace cachebisect {
namespace {

/// Bars grow with the terminal, and shrink to this before texts are clipped.
constexpr int kLeastHistoryBars = 4;
int history_bars(int columns) { return std::clamp(12 + (columns - 80) / 2, kLeastHistoryBars, 40); }

std::string rate_text(const Estimate& rate) {
  return rate.value ? format_rate(*rate.value, rate.interval) : "-";
}

std::string rate_bar(const Estimate& rate, double largest, const TextPaint& paint, int bars) {
  if (!rate.value || !(largest > 0) || !(*rate.value >= 0)) return "";
  return paint.bar(*rate.value / largest, bars);
}

double largest_live(const HistoryJob& job) {
  double largest = 0;
  for (const HistoryEntry* entry : job.runs) {
    largest = std::max(largest, entry->live.value.value_or(0));
  }
  return largest;
}

TextTable table_with_bars(const HistoryJob& job, const TextPaint& paint, int bars) {
  TextTable table({{"started (UTC)", Align::left},
                   {"live/s", Align::right},
                   {"", Align::left},
                   {"ceiling/s", Align::right},
                   {"verdict", Align::left}});
  const double largest = largest_live(job);
  for (const HistoryEntry* entry : job.runs) {
    table.add({history_minute(entry->started), rate_text(entry->live),
               rate_bar(entry->live, largest, paint, bars), rate_text(entry->ceiling),
               history_verdict(*entry)});
  }
  return table;
}

std::string fitted_table_of(const HistoryJob& job, const TextPage& page) {
  int bars = history_bars(page.columns);
  TextTable table = table_with_bars(job, page.paint, bars);
  while (table.width() > page.columns && bars > kLeastHistoryBars) {
    table = table_with_bars(job, page.paint, --bars);
  }
  return table.to_text(page.paint, page.columns);
}

std::string job_part(const HistoryJob& job, const TextPage& page) {
  const std::string change = history_change(job);
  return wrap(page.paint.bold(history_heading(job)), page.prose, 2) + "\n" +
         fitted_table_of(job, page) + (change.empty() ? "" : wrap(change, page.prose, 2));
}

}  // namespace

std::string history_text(const std::vector<HistoryEntry>& entries,
                         const HistorySelection& selection, const TextOptions& options) {
  const TextPage page(options);
  std::string text;
  for (const HistoryJob& job : history_jobs(entries, selection)) {
    text += (text.empty() ? "" : "\n") + job_part(job, page);
  }
  return text.empty() ? "no runs\n" : text;
}

}  // namespace cachebisect
