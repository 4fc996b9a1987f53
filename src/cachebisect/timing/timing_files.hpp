// The files of `cachebisect time`: one writer each, all from the same record.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/picture/picture.hpp"
#include "cachebisect/format/text_options.hpp"
#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect {

/// Statistics, findings, and what timing costs.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string timing_summary_yaml(const TimingRecord& record);
/// The same as JSON, indented, ending in a newline.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string timing_summary_json(const TimingRecord& record);
/// A row per batch, in seconds; a part that was not measured is empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string timing_results_csv(const TimingRecord& record);
/// TimingRecord::config_json as YAML.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string benchmark_config_yaml(
    const TimingRecord& record);
/// Stacked bars: per batch, or per batch size if there are several.
[[nodiscard]] CACHEBISECT_INTERNAL_API Picture breakdown_picture(const TimingRecord& record);
/// Total time per batch, or against the batch size if there are several.
[[nodiscard]] CACHEBISECT_INTERNAL_API Picture total_picture(const TimingRecord& record);
/// Shares of the mean batch; of the last batch size if there are several.
[[nodiscard]] CACHEBISECT_INTERNAL_API Picture distribution_picture(const TimingRecord& record);

/// One file: text or a picture, the other one is null.
struct TimingFile {
  std::string_view name;
  std::string (*text)(const TimingRecord& record) = nullptr;
  Picture (*picture)(const TimingRecord& record) = nullptr;
};

/// All of them. A new one is one more row in timing_files.cpp.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::span<const TimingFile> timing_files() noexcept;

/// The answer on the terminal, as wide as that.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string timing_text(const TimingRecord& record,
                                                               const TextOptions& options);

}  // namespace cachebisect
