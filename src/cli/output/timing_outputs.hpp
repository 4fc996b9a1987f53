// Where the results of `time` go: standard output and the files of its folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "output/output_file.hpp"
#include "output/output_folder.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/timing/timing_files.hpp"

namespace cachebisect::cli {

/// All files are opened before anything is measured, and written whole or not at all.
class TimingOutputs {
 public:
  /// `folder` empty: results/benchmark/TIMESTAMP; `json` a file, "-" for standard output, or empty.
  /// Pictures are left out, with a warning on standard error, if nothing can draw them. Throws
  /// Error(output).
  TimingOutputs(const std::string& folder, const std::string& json, bool quiet);

  /// Files first; `before_streams` is called before standard output is written to. Throws
  /// Error(output) after trying all.
  void write(const TimingRecord& record, const TextOptions& text,
             const std::function<void()>& before_streams);
  /// See OutputFile::discard(). Any thread.
  void discard() const noexcept;

 private:
  struct Output {
    const TimingFile* format;
    OutputFile file;
  };

  /// Those that are regular files, or the others.
  void commit(const TimingRecord& record, bool files, std::optional<Error>& first_error);
  /// `written`: the files are there.
  void write_stdout(const TimingRecord& record, const TextOptions& text, bool written) const;

  OutputFolder folder_;
  bool quiet_;
  bool json_to_stdout_;
  std::optional<OutputFile> json_;
  std::vector<Output> outputs_;
};

}  // namespace cachebisect::cli
