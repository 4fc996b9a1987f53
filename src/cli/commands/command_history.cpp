#include <filesystem>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "output/output_files.hpp"
#include "shell/log.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/history/history.hpp"

namespace cachebisect::cli {
namespace {

struct HistoryArguments {
  std::string file;
  std::string html;
  HistorySelection selection;
  std::string color = "auto";
};

/// The page must not replace what it is made of.
void refuse_history_as_page(const HistoryArguments& arguments) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(arguments.file, arguments.html, ignored)) return;
  throw Error(ErrorKind::usage,
              "the page would replace the history " + arguments.file + "; give it another name");
}

int run(const HistoryArguments& arguments) {
  const TextOptions text = text_options(arguments.color, STDOUT_FILENO);
  const bool to_stdout = arguments.html == "-";
  OutputSet<History> outputs;
  const auto page = [&](const History& history) {
    return history_html(history, arguments.selection);
  };
  if (!arguments.html.empty() && !to_stdout) {
    refuse_history_as_page(arguments);
    outputs.add(arguments.html, page);
  }
  const History history = load_history(arguments.file);
  for (const std::string& problem : history.problems) print_error(problem + "; left out");
  const auto answer = [&] {
    return to_stdout ? page(history) : history_text(history.entries, arguments.selection, text);
  };
  outputs.write(history, {.text = answer}, [] {});
  return 0;
}

}  // namespace

Command add_history(CLI::App& app) {
  auto arguments = std::make_shared<HistoryArguments>();
  app.add_option("FILE", arguments->file, "the file of --append")->required();
  app.add_option("--last", arguments->selection.last, "only the last N runs of each job (all)")
      ->type_name("N");
  app.add_option("--pipeline", arguments->selection.pipeline, "only the pipeline of this name")
      ->type_name("NAME");
  app.add_option("--html", arguments->html,
                 "write the trend as one page for a browser; - is standard output")
      ->type_name("FILE");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
