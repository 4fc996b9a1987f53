#include "cachebisect/timing/timing_files.hpp"

#include <array>

namespace cachebisect {
namespace {

constexpr std::array kFiles{
    TimingFile{.name = "timing_summary.yaml", .text = timing_summary_yaml},
    TimingFile{.name = "timing_results.csv", .text = timing_results_csv},
    TimingFile{.name = "benchmark_config.yaml", .text = benchmark_config_yaml},
    TimingFile{.name = "batch_time_breakdown.png", .picture = breakdown_picture},
    TimingFile{.name = "total_batch_time.png", .picture = total_picture},
    TimingFile{.name = "time_distribution_pie.png", .picture = distribution_picture},
};

}  // namespace

std::span<const TimingFile> timing_files() noexcept { return kFiles; }

}  // namespace cachebisect
