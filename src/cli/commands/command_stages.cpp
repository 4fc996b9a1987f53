#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/pipeline/file/stage_doc.hpp"

namespace cachebisect::cli {
namespace {

struct StagesArguments {
  std::string type;
  std::vector<std::string> plugins;
  bool markdown = false;
};

int run(const StagesArguments& arguments) {
  const Registry registry = make_registry(arguments.plugins);
  if (arguments.markdown) {
    std::cout << stages_markdown(registry);
  } else if (arguments.type.empty()) {
    std::cout << stages_text(registry);
  } else {
    std::cout << stage_text(registry.stage(arguments.type));
  }
  return 0;
}

}  // namespace

Command add_stages(CLI::App& app) {
  auto arguments = std::make_shared<StagesArguments>();
  app.add_option("TYPE", arguments->type, "one stage, e.g. augment.random_crop");
  app.add_option("--plugin", arguments->plugins, "library with further stages (repeatable)")
      ->type_name("LIB.so")
      ->expected(1)
      ->take_all();
  app.add_flag("--markdown", arguments->markdown, "all stages with their parameters, as Markdown");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
