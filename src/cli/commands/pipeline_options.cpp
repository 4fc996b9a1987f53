#include "commands/pipeline_options.hpp"

#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>

#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/protocol/settings.hpp"
#include "cachebisect/stages.hpp"

namespace cachebisect::cli {
namespace {

namespace fs = std::filesystem;

SpecOverride parse_set(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(ErrorKind::usage,
                "--set " + text + ": write PATH=VALUE, for example --set stages.crop.size=28");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<fs::path> installed_folders() {
  std::error_code ignored;
  const fs::path binary = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  return {binary / "../share/cachebisect/pipelines", binary / "../../../pipelines"};
}

std::string find_pipeline(const std::string& file) {
  std::error_code ignored;
  if (file.find('/') != std::string::npos || fs::exists(file, ignored)) return file;
  for (const fs::path& folder : installed_folders()) {
    for (const char* const extension : {"", ".json"}) {
      const fs::path candidate = folder / (file + extension);
      if (fs::is_regular_file(candidate, ignored))
        return fs::canonical(candidate, ignored).string();
    }
  }
  return file;
}

}  // namespace

std::vector<std::string> installed_pipelines() {
  std::set<std::string> names;
  for (const fs::path& folder : installed_folders()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const bool pipeline = entry.path().extension() == ".json";
      if (pipeline && is_plain_name(entry.path().stem().string())) {
        names.insert(entry.path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

void add_pipeline_options(CLI::App& app, PipelineOptions& options) {
  app.add_option("--pipeline", options.file, "pipeline file; - is standard input")
      ->type_name("FILE");
  add_override_options(app, options);
}

void add_override_options(CLI::App& app, PipelineOptions& options) {
  app.add_option("--set", options.sets, "override a value, e.g. stages.crop.size=28 (repeatable)")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all();
  app.add_option("--device", options.device, device_names())->type_name("auto|cpu|cuda|emulated");
  app.add_option("--workers", options.workers, std::string(settings::kWorkers.doc) + "; auto")
      ->type_name("N|auto");
  app.add_option("--batch-size", options.batch_size, std::string(settings::kBatchSize.doc))
      ->type_name("N");
  app.add_option("--seed", options.seed, std::string(settings::kSeed.doc))->type_name("N");
  app.add_option("--plugin", options.plugins, "library with further stages or steps (repeatable)")
      ->type_name("LIB.so")
      ->expected(1)
      ->take_all();
}

Registry make_registry(const std::vector<std::string>& plugins) {
  Registry registry;
  stages::register_all(registry);
  for (const std::string& plugin : plugins) registry.load_plugin(plugin);
  return registry;
}

std::vector<SpecOverride> overrides_of(const PipelineOptions& options) {
  std::vector<SpecOverride> overrides;
  for (const std::string& set : options.sets) overrides.push_back(parse_set(set));
  if (options.device) overrides.push_back({"device", '"' + *options.device + '"'});
  if (options.workers) overrides.push_back({"workers", *options.workers});
  if (options.batch_size) overrides.push_back({"batch_size", std::to_string(*options.batch_size)});
  if (options.seed) overrides.push_back({"seed", std::to_string(*options.seed)});
  return overrides;
}

PipelineSpec load_spec(const PipelineOptions& options, const Registry& registry) {
  if (options.file.empty()) {
    throw Error(ErrorKind::usage,
                "no pipeline given: add --pipeline FILE, for example --pipeline cifar.json");
  }
  const std::vector<SpecOverride> overrides = overrides_of(options);
  if (options.file == "-") {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    return parse_pipeline(text, "standard input", registry, {".", default_cache_folder()},
                          overrides);
  }
  return load_pipeline(find_pipeline(options.file), registry, overrides);
}

}  // namespace cachebisect::cli
