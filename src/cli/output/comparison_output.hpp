// Where a comparison goes: standard output and a file.
#pragma once

#include <functional>
#include <string>

#include "output/output_files.hpp"

#include "cachebisect/compare/comparison.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect::cli {

/// Opened before anything is read or measured.
class ComparisonOutput {
 public:
  /// `format` is text or markdown, text as `text` says; `json` a file, "-" for standard output, or
  /// empty. Throws Error(usage) for another format, Error(output) for a file that cannot be
  /// written.
  ComparisonOutput(const std::string& format, const TextOptions& text, const std::string& json);

  /// See OutputSet::write().
  void write(const Comparison& comparison, const std::function<void()>& before_streams);
  /// See OutputFile::discard(). Any thread.
  void discard() const noexcept;

 private:
  bool markdown_;
  TextOptions text_;
  bool json_to_stdout_;
  OutputSet<Comparison> outputs_;
};

}  // namespace cachebisect::cli
