// Loads a pipeline file from disk.
#include <cstdlib>
#include <filesystem>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/pipeline/file/json_reader.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/pipeline/file/sha256.hpp"

namespace cachebisect {

std::string default_cache_folder() {
  // A relative path must be ignored (XDG Base Directory Specification).
  const char* const xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg == '/') return std::string(xdg) + "/cachebisect";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/cachebisect"
                                          : std::string();
}

PipelineSpec load_pipeline(const std::string& file, const Registry& registry,
                           const std::vector<SpecOverride>& overrides) {
  const std::string text =
      read_text_file(file, spec::kPipelineLimits.max_bytes, spec::kPipelineLimits.document);
  const SpecPaths paths{.base_folder = std::filesystem::path(file).parent_path().string(),
                        .cache_folder = default_cache_folder()};
  PipelineSpec spec = parse_pipeline(text, file, registry, paths, overrides);
  spec.file = file;
  spec.sha256 = sha256_hex(text);
  return spec;
}

}  // namespace cachebisect
