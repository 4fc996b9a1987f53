#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "commands/commands.hpp"
#include "output/answer_output.hpp"
#include "output/output_file.hpp"
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

/// None if there is no page or it goes to standard output.
std::optional<OutputFile> open_page(const HistoryArguments& arguments) {
  if (arguments.html.empty() || arguments.html == "-") return std::nullopt;
  OutputFile page(arguments.html);
  std::error_code ignored;
  if (page.is_file() && std::filesystem::equivalent(arguments.file, arguments.html, ignored)) {
    throw Error(ErrorKind::usage,
                "the page would replace the history " + arguments.file + "; give it another name");
  }
  return page;
}

int run(const HistoryArguments& arguments) {
  const TextOptions text = text_options(arguments.color, STDOUT_FILENO);
  std::optional<OutputFile> page = open_page(arguments);
  const History history = load_history(arguments.file);
  for (const std::string& problem : history.problems) print_error(problem + "; left out");
  const bool to_stdout = arguments.html == "-";
  const std::string html =
      page || to_stdout ? history_html(history, arguments.selection) : std::string();
  write_answer(to_stdout ? html : history_text(history.entries, arguments.selection, text),
               {page ? &*page : nullptr, html}, [] {});
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
