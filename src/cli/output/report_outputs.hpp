// Where the report goes: standard output and the files that were asked for.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "output/output_files.hpp"
#include "output/output_folder.hpp"
#include "output/report_destinations.hpp"

#include "cachebisect/report/writers.hpp"
#include "cachebisect/report/writers/formats.hpp"

namespace cachebisect::cli {

/// The outputs of the report, opened before anything is measured.
class ReportOutputs {
 public:
  /// Makes the folder of --out. Throws Error(output) for one that cannot be written and
  /// Error(usage) if two different reports would go to one file.
  explicit ReportOutputs(const ReportDestinations& to);

  /// Files first, because standard output and other streams may block; `before_streams` is called
  /// between the two. Throws Error(output) after trying all outputs.
  void write(const Report& report, const std::function<void()>& before_streams);
  /// See OutputFile::discard(). Any thread.
  void discard() const noexcept;

 private:
  void take_stdout(const ReportFormat& format);
  [[nodiscard]] std::string answer(const Report& report) const;

  bool quiet_;
  TextOptions text_;
  bool markdown_;  ///< the page of Markdown alone, in place of the terminal report
  const ReportFormat* to_stdout_ = nullptr;  ///< in place of the terminal report
  std::optional<OutputFolder> folder_;       ///< of --out
  OutputSet<Report> outputs_;
};

/// The report as of the last complete round, for a run that fails or never returns because a stage
/// is stuck. Any thread.
class LastReport {
 public:
  void set(const Report& report);
  /// Writes what was measured before `error` ended the run, if anything was.
  void write_after(const Error& error, ReportOutputs& outputs,
                   const std::function<void()>& before_streams);
  void write(ReportOutputs& outputs, const std::function<void()>& before_streams);

 private:
  std::mutex mutex_;
  std::optional<Report> report_;
};

}  // namespace cachebisect::cli
