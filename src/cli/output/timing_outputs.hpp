// Where the results of `time` go: standard output and the files of its folder.
#pragma once

#include <functional>
#include <string>

#include "output/output_files.hpp"
#include "output/output_folder.hpp"

#include "cachebisect/timing/timing_files.hpp"

namespace cachebisect::cli {

/// All files are opened before anything is measured, and written whole or not at all.
class TimingOutputs {
 public:
  /// `folder` empty: results/benchmark/TIMESTAMP; `json` a file, "-" for standard output, or empty.
  /// Pictures are left out, with a warning on standard error, if nothing can draw them. Throws
  /// Error(output).
  TimingOutputs(const std::string& folder, const std::string& json, bool quiet);

  /// See OutputSet::write().
  void write(const TimingRecord& record, const TextOptions& text,
             const std::function<void()>& before_streams);
  /// See OutputFile::discard(). Any thread.
  void discard() const noexcept;

 private:
  [[nodiscard]] std::string answer(const TimingRecord& record, const TextOptions& text) const;

  OutputFolder folder_;
  bool quiet_;
  bool json_to_stdout_;
  OutputSet<TimingRecord> outputs_;
};

}  // namespace cachebisect::cli
