// The pipeline FILE: read, checked, written, and its JSON Schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline_spec.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect {

/// One `--set PATH=VALUE`.
struct SpecOverride {
  std::string path;
  std::string value;  ///< JSON, else a string
};

/// The folders that relative paths and ${cache} refer to.
struct SpecPaths {
  std::string base_folder;   ///< of the pipeline file
  std::string cache_folder;  ///< ${cache}
};

/// Parses JSON text (comments allowed). Throws Error(usage) with line and column, JSON pointer,
/// nearest known name or allowed range. `origin` names the text (its file) in messages.
CACHEBISECT_INTERNAL_API PipelineSpec
parse_pipeline(std::string_view text, const std::string& origin, const Registry& registry,
               const SpecPaths& paths, const std::vector<SpecOverride>& overrides = {});
/// Reads and parses a file. Throws Error(usage) if it cannot be read.
CACHEBISECT_INTERNAL_API PipelineSpec
load_pipeline(const std::string& file, const Registry& registry,
              const std::vector<SpecOverride>& overrides = {});
/// The spec with overrides, as if they had been given with its file. Throws as parse_pipeline().
CACHEBISECT_INTERNAL_API PipelineSpec change_pipeline(const PipelineSpec& spec,
                                                      const Registry& registry,
                                                      const std::vector<SpecOverride>& overrides);
/// The spec after a JSON Patch (RFC 6902). Throws as parse_pipeline(), and Error(usage) for a patch
/// that does not fit.
CACHEBISECT_INTERNAL_API PipelineSpec patch_pipeline(const PipelineSpec& spec,
                                                     const Registry& registry,
                                                     std::string_view patch);
/// Parses the JSON object of one stage of this type; "use" may be left out. Throws as
/// parse_pipeline().
CACHEBISECT_INTERNAL_API StageSpec parse_stage(std::string_view text, const StageType& type,
                                               const SpecPaths& paths);
/// The whole spec after defaults and overrides as JSON text ("effective" in the report).
CACHEBISECT_INTERNAL_API std::string to_json(const PipelineSpec& spec);
/// The JSON Schema of pipeline files, with the stages of this registry.
CACHEBISECT_INTERNAL_API std::string pipeline_schema(const Registry& registry);
/// $XDG_CACHE_HOME/cachebisect, or $HOME/.cache/cachebisect; empty if neither variable is set.
CACHEBISECT_INTERNAL_API std::string default_cache_folder();

}  // namespace cachebisect
