#include "output/timing_outputs.hpp"

#include "shell/log.hpp"

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
    outputs_.add(folder_.file(format.name),
                 [&format](const TimingRecord& record) { return content_of(format, record); });
  }
  if (!json.empty() && !json_to_stdout_) outputs_.add(json, timing_summary_json);
}

std::string TimingOutputs::answer(const TimingRecord& record, const TextOptions& text) const {
  if (json_to_stdout_) return timing_summary_json(record);
  return quiet_ ? std::string() : timing_text(record, text) + '\n';
}

void TimingOutputs::write(const TimingRecord& record, const TextOptions& text,
                          const std::function<void()>& before_streams) {
  outputs_.write(
      record,
      {.text = [&] { return answer(record, text); }, .lists_files = !quiet_ && !json_to_stdout_},
      before_streams);
}

void TimingOutputs::discard() const noexcept { outputs_.discard(); }

}  // namespace cachebisect::cli
