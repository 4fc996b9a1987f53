// Loads a pipeline from a file, or from a text in place of one.
#include <cstdlib>
#include <filesystem>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/pipeline/file/json_reader.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/pipeline/file/sha256.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {
namespace {

bool is_text(const std::string& path_or_text) {
  const std::size_t first = path_or_text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return false;
  const std::string_view start = std::string_view(path_or_text).substr(first, 2);
  return start.front() == '{' || start == "/*" || start == "//";
}

}  // namespace

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

Pipeline Pipeline::from_json(const std::string& path_or_text, const Registry& registry) {
  if (!is_text(path_or_text)) return from_spec(load_pipeline(path_or_text, registry), registry);
  const SpecPaths paths{.base_folder = std::filesystem::current_path().string(),
                        .cache_folder = default_cache_folder()};
  return from_spec(parse_pipeline(path_or_text, "the given text", registry, paths), registry);
}

}  // namespace cachebisect
