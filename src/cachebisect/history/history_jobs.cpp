#include "cachebisect/history/history_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kNameColumns = 24;
constexpr std::size_t kStageColumns = 14;

bool overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

/// "+14%"; "~" if the intervals do not tell the two apart.
std::string change_text(const Estimate& from, const Estimate& to) {
  if (!from.value || !to.value || !(*from.value > 0)) return "not known";
  const double change = *to.value / *from.value - 1;
  if (!from.interval || !to.interval) return "not known";
  if (overlap(*from.interval, *to.interval)) return "~ (their intervals overlap)";
  return (change > 0 ? "+" : "-") + percent(std::abs(change));
}

}  // namespace

std::vector<HistoryJob> history_jobs(const std::vector<HistoryEntry>& entries,
                                     const HistorySelection& selection) {
  using Key = std::tuple<std::string, std::string, std::int64_t>;
  std::map<Key, std::vector<const HistoryEntry*>> runs;
  for (const HistoryEntry& entry : entries) {
    if (!selection.pipeline.empty() && entry.pipeline != selection.pipeline) continue;
    runs[{entry.pipeline, entry.device_name, entry.batch_size}].push_back(&entry);
  }
  std::vector<HistoryJob> jobs;
  for (auto& [key, all] : runs) {
    const std::size_t surplus =
        selection.last > 0 && all.size() > selection.last ? all.size() - selection.last : 0;
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(surplus));
    const auto& [pipeline, device, batch] = key;
    jobs.push_back({pipeline, device, batch, std::move(all)});
  }
  return jobs;
}

std::string history_heading(const HistoryJob& job) {
  const std::string runs = job.runs.size() == 1 ? " run" : " runs";
  return clipped(printable(job.pipeline), kNameColumns) + ": device " +
         clipped(printable(job.device), kNameColumns) + ", batch " +
         std::to_string(job.batch_size) + ", " + std::to_string(job.runs.size()) + runs;
}

std::string history_finding(const HistoryEntry& entry) {
  std::string kind = to_string(entry.verdict);
  if (entry.stage.empty()) return kind;
  return kind + " " + clipped(printable(entry.stage), kStageColumns);
}

std::string history_verdict(const HistoryEntry& entry) {
  std::string text = history_finding(entry);
  if (!entry.stage.empty() && entry.drop.value) text += " " + format_percent(*entry.drop.value);
  return entry.interrupted ? text + " (interrupted)" : text;
}

std::string history_minute(const std::string& started) {
  std::string text = printable(started).substr(0, 16);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

std::string history_change(const HistoryJob& job) {
  const auto& runs = job.runs;
  if (runs.size() < 2) return "";
  const Estimate& last = runs.back()->live;
  const std::string before = change_text(runs[runs.size() - 2]->live, last);
  std::string text = "live, last run against the one before: " + before;
  if (runs.size() > 2) {
    text += "; against the first one shown: " + change_text(runs.front()->live, last);
  }
  return text;
}

}  // namespace cachebisect
