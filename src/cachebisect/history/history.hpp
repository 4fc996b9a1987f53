// The history of reports: JSON Lines, one line per run (docs/use/history.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect {

/// What a history keeps of a report.
struct HistoryEntry {
  std::string started;  ///< ISO 8601, UTC
  std::string tool_version;
  std::string pipeline;
  std::string file;
  std::string sha256;
  std::int64_t batch_size = 1;
  int workers = 0;
  DeviceKind device_kind = DeviceKind::cpu;
  std::string device_name;
  Estimate live;     ///< samples/s
  Estimate ceiling;  ///< samples/s
  Estimate loss;     ///< share of throughput
  VerdictKind verdict = VerdictKind::inconclusive;
  std::string stage;  ///< empty if none is named
  Estimate drop;
  std::vector<std::string> warnings;  ///< codes
  bool interrupted = false;
};

/// The entry of a report as one line of JSON, ending in a newline.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string history_line(const Report& report);

struct History {
  std::vector<HistoryEntry> entries;  ///< in the order of the file
  std::vector<std::string> problems;  ///< "FILE:LINE: what" of each line that was left out
};

/// Leaves out damaged lines, those of other schema versions and those longer than 1 MiB. `origin`
/// names the text.
[[nodiscard]] CACHEBISECT_INTERNAL_API History read_history(std::string_view text,
                                                            const std::string& origin);
/// The history in a file. Throws Error(usage) for one that cannot be read or is larger than
/// 256 MiB.
[[nodiscard]] CACHEBISECT_INTERNAL_API History load_history(const std::string& file);

/// Which entries are shown.
struct HistorySelection {
  std::size_t last = 0;  ///< number of latest entries of each job; 0: all
  std::string pipeline;  ///< empty: all
};

/// The trend of each job (pipeline, device, batch size), as wide as the terminal.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string history_text(
    const std::vector<HistoryEntry>& entries, const HistorySelection& selection,
    const TextOptions& options = {});
/// The same as one HTML page that loads nothing. It names the lines that were left out, and keeps
/// to the size of a page: of a long history it shows the last runs.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string history_html(const History& history,
                                                                const HistorySelection& selection);

}  // namespace cachebisect
