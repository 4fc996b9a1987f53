#include <iostream>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "shell/command_manuals.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {
namespace {

std::string lines(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

std::vector<std::string> stage_types() {
  std::vector<std::string> types;
  const Registry registry = make_registry({});
  for (const StageType& stage : registry.stages()) types.push_back(stage.type);
  return types;
}

std::string completion(const std::string& what, const CLI::App& all) {
  if (what == "pipelines") return lines(installed_pipelines());
  if (what == "stages") return lines(stage_types());
  const CommandTree tree = command_tree(all);
  if (what == "bash") return bash_completion(tree);
  if (what == "zsh") return zsh_completion(tree);
  return what == "fish" ? fish_completion(tree) : man_page(tree);
}

}  // namespace

Command add_completion(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  app.add_option("WHAT", *what,
                 "the script of a shell, the man page, or the names that the scripts complete")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man", "pipelines", "stages"}));
  return [what, &app] {
    std::cout << completion(*what, *app.get_parent()) << std::flush;
    if (!std::cout) throw Error(ErrorKind::output, "standard output could not be written");
    return 0;
  };
}

}  // namespace cachebisect::cli
