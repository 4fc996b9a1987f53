// Options common to all subcommands that run a pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/pipeline/pipeline_spec.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace CLI {
class App;
}

namespace cachebisect::cli {

struct PipelineOptions {
  std::string file;
  std::vector<std::string> sets;  ///< PATH=VALUE
  std::optional<std::string> device;
  std::optional<std::string> workers;
  std::optional<std::int64_t> batch_size;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> plugins;
};

void add_pipeline_options(CLI::App& app, PipelineOptions& options);
/// The same without --pipeline, for commands that name their pipelines otherwise.
void add_override_options(CLI::App& app, PipelineOptions& options);

/// --set and the options that have names of their own, in the order in which they apply.
[[nodiscard]] std::vector<SpecOverride> overrides_of(const PipelineOptions& options);
/// The built-in stages and those of the plugins.
Registry make_registry(const std::vector<std::string>& plugins);

/// Reads the pipeline file with all overrides. "-" is standard input; a name without a slash is
/// looked up in the current folder, then among the installed pipelines. Throws Error(usage).
PipelineSpec load_spec(const PipelineOptions& options, const Registry& registry);

/// Names of the installed pipelines, sorted.
std::vector<std::string> installed_pipelines();

}  // namespace cachebisect::cli
