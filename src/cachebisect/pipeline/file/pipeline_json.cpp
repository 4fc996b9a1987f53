#include <filesystem>

#include "cachebisect/pipeline/file/pipeline_file.hpp"
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

Pipeline Pipeline::from_json(const std::string& path_or_text, const Registry& registry) {
  if (!is_text(path_or_text)) return from_spec(load_pipeline(path_or_text, registry), registry);
  const SpecPaths paths{.base_folder = std::filesystem::current_path().string(),
                        .cache_folder = default_cache_folder()};
  return from_spec(parse_pipeline(path_or_text, "the given text", registry, paths), registry);
}

}  // namespace cachebisect
