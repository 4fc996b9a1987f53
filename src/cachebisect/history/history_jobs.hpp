// The runs of a history by job, and what the trend says of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/history/history.hpp"

namespace cachebisect {

/// Runs that can be compared: the same pipeline, device and batch size.
struct HistoryJob {
  std::string pipeline;
  std::string device;
  std::int64_t batch_size = 1;
  std::vector<const HistoryEntry*> runs;  ///< in the order of the file; at least one
};

/// The jobs of the selected entries, by name. They point to `entries`.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<HistoryJob> history_jobs(
    const std::vector<HistoryEntry>& entries, const HistorySelection& selection);

/// "photos: device emulated, batch 64, 3 runs".
[[nodiscard]] std::string history_heading(const HistoryJob& job);
/// "drop decode": what changes from run to run only if the verdict does.
[[nodiscard]] std::string history_finding(const HistoryEntry& entry);
/// "drop decode 59%".
[[nodiscard]] std::string history_verdict(const HistoryEntry& entry);
/// "2026-01-02 03:04" of "2026-01-02T03:04:05Z".
[[nodiscard]] std::string history_minute(const std::string& started);
/// The last run against those before it; empty for a single run.
[[nodiscard]] std::string history_change(const HistoryJob& job);

}  // namespace cachebisect
