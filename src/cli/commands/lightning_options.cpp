#include "commands/lightning_options.hpp"

#include <filesystem>

#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/shell_word.hpp"
#include "cachebisect/launch/hook_folder.hpp"

namespace cachebisect::cli {
namespace {

constexpr const char* kProgram = "_lightning/train.py";

/// The options as a user types them.
std::vector<std::string> typed(const LightningArguments& a, const char* config) {
  std::vector<std::string> words{config, a.config};
  if (!a.model_class.empty()) words.insert(words.end(), {"--model-class", a.model_class});
  if (!a.data_class.empty()) words.insert(words.end(), {"--data-class", a.data_class});
  return words;
}

}  // namespace

void add_lightning_options(CLI::App& app, LightningArguments& a) {
  app.add_option("-c,--config", a.config,
                 "train what this file of LightningCLI describes, in place of a command")
      ->type_name("FILE");
  app.add_option("--model-class", a.model_class,
                 "import path of its LightningModule (the file's class_path)")
      ->type_name("PATH");
  app.add_option("--data-class", a.data_class,
                 "import path of its LightningDataModule (the file's class_path)")
      ->type_name("PATH");
  app.add_option("--python", a.python, "the Python that trains it (python3)")->type_name("PYTHON");
}

void check_lightning(const LightningArguments& a, bool others) {
  const bool classes = !a.model_class.empty() || !a.data_class.empty();
  if (!a.given() && classes) {
    throw Error(ErrorKind::usage, "--model-class and --data-class need the file: -c FILE");
  }
  if (a.given() && others) {
    throw Error(ErrorKind::usage,
                "-c FILE trains by itself: leave out the pipeline or the command");
  }
}

std::vector<std::string> lightning_command(const LightningArguments& a, const std::string& hook,
                                           const std::vector<std::string>& more) {
  const std::filesystem::path package = std::filesystem::path(find_hook_folder(hook)).parent_path();
  std::vector<std::string> words{a.python, (package / kProgram).string()};
  for (std::string& word : typed(a, "--config")) words.push_back(std::move(word));
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string lightning_bisect_command(const LightningArguments& a) {
  std::string text = "cachebisect run";
  for (const std::string& word : typed(a, "-c")) text += ' ' + shell_word(word);
  return text;
}

}  // namespace cachebisect::cli
