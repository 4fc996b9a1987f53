#include "output/report_outputs.hpp"

#include <algorithm>
#include <iostream>
#include <string_view>

#include "shell/log.hpp"
#include "shell/terminal.hpp"
#include <unistd.h>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/history/history.hpp"

namespace cachebisect::cli {
namespace {

bool has_run_failed(const Report& report) {
  return std::ranges::any_of(report.warnings,
                             [](const Warning& warning) { return warning.code == "run_failed"; });
}

/// True if a file is named twice: by its option and as one of the folder.
bool same_place(const std::string& name, const std::string& in_folder) {
  return !name.empty() && name != "-" && OutputFile(name).same_file(OutputFile(in_folder));
}

}  // namespace

ReportOutputs::ReportOutputs(const ReportDestinations& to)
    : quiet_(to.quiet),
      text_(text_options(to.color, STDOUT_FILENO)),
      markdown_(to.format == "markdown") {
  text_.explain = to.explain_numbers;
  if (!to.out.empty()) folder_.emplace(to.out);
  for (const ReportFormat& format : report_formats()) {
    const auto named = to.files.find(std::string(format.option));
    const std::string name = named == to.files.end() ? "" : named->second;
    const auto content = [&format, explain = text_.explain](const Report& report) {
      return format.write(report, {.explain = explain});
    };
    if (name == "-") {
      take_stdout(format);
    } else if (!name.empty()) {
      outputs_.add(name, content);
    }
    if (folder_ && !same_place(name, folder_->file(format.file))) {
      outputs_.add(folder_->file(format.file), content);
    }
  }
  if (to.append == "-") {
    throw Error(ErrorKind::usage, "--append -: give a file, which keeps all runs");
  }
  if (!to.append.empty()) outputs_.add_to(to.append, history_line);
}

void ReportOutputs::take_stdout(const ReportFormat& format) {
  if (to_stdout_ != nullptr || markdown_) {
    const std::string_view other = markdown_ ? "--format markdown" : to_stdout_->option;
    throw Error(ErrorKind::usage, std::string(other) + " and " + std::string(format.option) +
                                      " would both be written to standard output");
  }
  to_stdout_ = &format;
}

std::string ReportOutputs::answer(const Report& report) const {
  if (to_stdout_ != nullptr) return to_stdout_->write(report);
  if (quiet_) return {};
  return markdown_ ? to_markdown(report, {.explain = text_.explain}) : to_text(report, text_);
}

void ReportOutputs::write(const Report& report, const std::function<void()>& before_streams) {
  outputs_.write(report,
                 {.text = [&] { return answer(report); },
                  .lists_files = !quiet_ && !markdown_ && to_stdout_ == nullptr},
                 before_streams);
}

void ReportOutputs::discard() const noexcept { outputs_.discard(); }

void LastReport::set(const Report& report) {
  const std::scoped_lock lock(mutex_);
  report_ = report;
  report_->interrupted = true;
}

void LastReport::write_after(const Error& error, ReportOutputs& outputs,
                             const std::function<void()>& before_streams) {
  {
    const std::scoped_lock lock(mutex_);
    if (!report_) return;
    // A report that has a verdict has told it.
    if (!has_run_failed(*report_)) {
      report_->warnings.push_back({"run_failed",
                                   std::string("the run ended early: ") + error.what(),
                                   "The figures are those of the rounds before.", error.details()});
    }
  }
  write(outputs, before_streams);
}

void LastReport::write(ReportOutputs& outputs, const std::function<void()>& before_streams) {
  const std::scoped_lock lock(mutex_);
  if (!report_) return print_error("interrupted before anything was measured");
  try {
    outputs.write(*report_, before_streams);
  } catch (...) {
    print_error(current_error(ErrorKind::output).what());
  }
}

}  // namespace cachebisect::cli
