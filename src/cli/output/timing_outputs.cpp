#include "output/timing_outputs.hpp"

#include <iostream>

#include "shell/log.hpp"

#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/picture/draw_png.hpp"

namespace cachebisect::cli {
namespace {

std::string content_of(const TimingFile& format, const TimingRecord& record) {
  return format.text != nullptr ? format.text(record) : draw_png(format.picture(record));
}

}  // namespace

TimingOutputs::TimingOutputs(const std::string& folder, const std::string& json, bool quiet)
    : folder_(folder.empty() ? timestamped_folder("results/benchmark") : folder),
      quiet_(quiet),
      json_to_stdout_(json == "-") {
  const bool draws = can_draw_png();
  if (!draws) print_error("no pictures: " + no_gnuplot_text());
  for (const TimingFile& format : timing_files()) {
    if (format.text == nullptr && !draws) continue;
    outputs_.push_back({&format, OutputFile(folder_.file(format.name))});
  }
  if (json.empty() || json_to_stdout_) return;
  json_.emplace(json);
  for (const Output& output : outputs_) {
    if (!json_->same_file(output.file)) continue;
    throw Error(ErrorKind::usage,
                "--json would replace " + output.file.path() + "; give it another name");
  }
}

void TimingOutputs::commit(const TimingRecord& record, bool files,
                           std::optional<Error>& first_error) {
  const auto attempt = [&](OutputFile& file, const auto& content) {
    if (file.is_file() != files) return;
    try {
      file.commit(content());
    } catch (const Error& error) {
      if (!first_error) first_error = error;
    }
  };
  for (Output& output : outputs_) {
    attempt(output.file, [&] { return content_of(*output.format, record); });
  }
  if (json_) attempt(*json_, [&] { return timing_summary_json(record); });
}

void TimingOutputs::write_stdout(const TimingRecord& record, const TextOptions& text,
                                 bool written) const {
  if (json_to_stdout_) {
    std::cout << timing_summary_json(record);
  } else if (!quiet_) {
    std::cout << timing_text(record, text);
    if (!written) return;
    std::cout << "\nwritten to " << printable(folder_.path()) << ":\n";
    for (const Output& output : outputs_) std::cout << "  " << output.format->name << '\n';
    if (json_) std::cout << "written: " << printable(json_->path()) << '\n';
  }
}

void TimingOutputs::write(const TimingRecord& record, const TextOptions& text,
                          const std::function<void()>& before_streams) {
  std::optional<Error> first_error;
  commit(record, true, first_error);
  before_streams();
  write_stdout(record, text, !first_error);
  std::cout.flush();
  commit(record, false, first_error);
  if (!std::cout) throw Error(ErrorKind::output, "standard output could not be written");
  if (first_error) throw Error(*first_error);
}

void TimingOutputs::discard() const noexcept {
  for (const Output& output : outputs_) output.file.discard();
  if (json_) json_->discard();
}

}  // namespace cachebisect::cli
