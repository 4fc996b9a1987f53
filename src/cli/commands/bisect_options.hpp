// The options of `bisect` as typed, and their translation to library options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/pipeline_options.hpp"
#include "commands/verdict_gate.hpp"
#include "output/report_destinations.hpp"

#include "cachebisect/bisect/bisect.hpp"

namespace cachebisect::cli {

struct BisectArguments {
  PipelineOptions pipeline;
  std::optional<double> budget_seconds;
  std::optional<double> sustain_seconds;
  double confidence = 0.99;
  bool quick = false;
  std::string min_drop = "5%";
  std::string io = "as-is";
  std::optional<std::uint64_t> nonce;
  std::optional<std::string> cache_host;
  std::optional<std::string> cache_device;
  std::vector<int> boundaries;
  std::optional<double> expect;
  std::optional<double> cost_per_hour;
  VerdictGate gate;
  std::vector<std::string> what_ifs;
  bool verify = false;
  bool no_explain = false;
  ReportDestinations report;
  bool no_progress = false;
  std::string log_level = "warn";
};

void add_bisect_options(CLI::App& app, BisectArguments& arguments);
/// Those that do not depend on a pipeline file: of any training job.
void add_job_options(CLI::App& app, BisectArguments& arguments);

/// Checks ranges. Throws Error(usage) naming the option.
BisectOptions library_options(const BisectArguments& arguments);
/// The cache budgets; percentages refer to the free memory of the device (0: unknown), and to that
/// of the machine with a fifth of its page cache.
CacheBudget cache_budget(const BisectArguments& arguments, double device_free_bytes);

}  // namespace cachebisect::cli
