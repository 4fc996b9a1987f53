#include "output/report_outputs.hpp"

#include <algorithm>
#include <iostream>
#include <string_view>

#include "shell/log.hpp"
#include "shell/terminal.hpp"
#include <unistd.h>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/history/history.hpp"

namespace cachebisect::cli {
namespace {

bool has_run_failed(const Report& report) {
  return std::ranges::any_of(report.warnings,
                             [](const Warning& warning) { return warning.code == "run_failed"; });
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
    if (name == "-") {
      take_stdout(format);
    } else if (!name.empty()) {
      add(format, name);
    }
    if (folder_) add(format, folder_->file(format.file));
  }
  if (!to.append.empty()) add_history(to.append);
}

void ReportOutputs::add_history(const std::string& path) {
  if (path == "-") throw Error(ErrorKind::usage, "--append -: give a file, which keeps all runs");
  history_.emplace(path);
  for (const Output& other : outputs_) {
    if (!history_->same_file(other.file)) continue;
    throw Error(ErrorKind::usage,
                "a report would replace the history " + path + "; give one of them another name");
  }
}

void ReportOutputs::take_stdout(const ReportFormat& format) {
  if (to_stdout_ != nullptr || markdown_) {
    const std::string_view other = markdown_ ? "--format markdown" : to_stdout_->option;
    throw Error(ErrorKind::usage, std::string(other) + " and " + std::string(format.option) +
                                      " would both be written to standard output");
  }
  to_stdout_ = &format;
}

void ReportOutputs::add(const ReportFormat& format, const std::string& path) {
  OutputFile file(path);
  for (const Output& other : outputs_) {
    if (!other.file.same_file(file)) continue;
    if (other.format == &format) return;
    throw Error(ErrorKind::usage, "two different reports would be written to " + path +
                                      "; give one of them another name");
  }
  outputs_.push_back({&format, std::move(file)});
}

void ReportOutputs::commit(const Report& report, bool files, std::optional<Error>& first_error) {
  const auto attempt = [&first_error](const auto& write) {
    try {
      write();
    } catch (...) {
      if (!first_error) first_error = current_error(ErrorKind::output);
    }
  };
  for (Output& output : outputs_) {
    if (output.file.is_file() != files) continue;
    attempt([&] { output.file.commit(output.format->write(report, {.explain = text_.explain})); });
  }
  if (history_ && history_->is_file() == files) {
    attempt([&] { history_->append(history_line(report)); });
  }
}

void ReportOutputs::write_stdout(const Report& report) const {
  if (to_stdout_ != nullptr) {
    std::cout << to_stdout_->write(report);
  } else if (!quiet_) {
    std::cout << (markdown_ ? to_markdown(report, {.explain = text_.explain})
                            : to_text(report, text_));
  }
  std::cout.flush();
}

void ReportOutputs::write(const Report& report, const std::function<void()>& before_streams) {
  std::optional<Error> first_error;
  commit(report, true, first_error);
  before_streams();
  write_stdout(report);
  commit(report, false, first_error);
  if (!quiet_ && !markdown_ && to_stdout_ == nullptr && !first_error) {
    for (const Output& output : outputs_) {
      std::cout << "written: " << printable(output.file.path()) << '\n';
    }
    if (history_) std::cout << "added to: " << printable(history_->path()) << '\n';
  }
  std::cout.flush();
  if (!std::cout) throw Error(ErrorKind::output, "standard output could not be written");
  if (first_error) throw Error(*first_error);
}

void ReportOutputs::discard() const noexcept {
  for (const Output& output : outputs_) output.file.discard();
}

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
