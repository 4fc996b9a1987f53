// `prepare`: writes a data set once, at a stage, and what reads it: of a pipeline, or of a script.
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "commands/allow_option.hpp"
#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "commands/quantities.hpp"
#include "output/output_file.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/launch/command_with_folder.hpp"
#include "cachebisect/pipeline/open_context.hpp"
#include "cachebisect/prepare/prepare.hpp"
#include "cachebisect/prepare/prepare_text.hpp"
#include "cachebisect/prepare/prepared_pipeline.hpp"
#include "cachebisect/prepare/script_prepare.hpp"

namespace cachebisect::cli {
namespace {

struct PrepareArguments {
  PipelineOptions pipeline;
  std::string out;
  std::string after;
  std::string codec;
  std::string shard_size;
  std::vector<std::string> allowed;
  bool dry_run = false;
  std::string hook;
  std::optional<int> loader;
  std::vector<std::string> command;
  std::string json;
  bool no_progress = false;
  std::string color = "auto";
};

/// 0 if it is not given.
std::uint64_t shard_bytes(const PrepareArguments& arguments) {
  constexpr double kMost = 1e15;
  if (arguments.shard_size.empty()) return 0;
  const bool share = arguments.shard_size.ends_with('%');
  const double bytes = share ? 0 : parse_bytes("--shard-size", arguments.shard_size, 0);
  if (bytes >= 1 && bytes <= kMost) return static_cast<std::uint64_t>(bytes);
  throw Error(ErrorKind::usage, "--shard-size: bytes, such as 128MiB");
}

/// Throws Error(usage) for options that do not go together.
void check(const PrepareArguments& arguments) {
  if (arguments.out.empty()) {
    throw Error(ErrorKind::usage, "--out FOLDER is needed: where the prepared data set goes");
  }
  const PipelineOptions& p = arguments.pipeline;
  if (arguments.command.empty()) {
    if (!arguments.hook.empty() || arguments.loader) {
      throw Error(ErrorKind::usage, "--hook and --loader go with a command after --");
    }
  } else if (!p.file.empty() || !p.sets.empty() || p.device || p.batch_size || p.seed ||
             !p.plugins.empty() || !arguments.codec.empty()) {
    throw Error(ErrorKind::usage,
                "a command after -- has its own data: --pipeline and its options, and --codec, do "
                "not apply to it");
  }
}

prepare::Options options_of(const PrepareArguments& arguments) {
  return {.folder = arguments.out,
          .after = arguments.after,
          .codec = arguments.codec,
          .shard_bytes = shard_bytes(arguments),
          .random_too = allows_semantic(arguments.allowed),
          .dry_run = arguments.dry_run};
}

prepare::ScriptRequest request_of(const PrepareArguments& arguments) {
  std::optional<int> workers;
  if (arguments.pipeline.workers) {
    workers = parse_number<int>(*arguments.pipeline.workers);
    if (!workers || *workers < 0) throw Error(ErrorKind::usage, "--workers: 0 or more processes");
  }
  return {.words = arguments.command,
          .hook = arguments.hook,
          .folder = arguments.out,
          .after = arguments.after,
          .shard_bytes = shard_bytes(arguments),
          .workers = workers,
          .loader = arguments.loader,
          .random_too = allows_semantic(arguments.allowed),
          .dry_run = arguments.dry_run,
          .stdout_to_stderr = arguments.json == "-"};
}

/// What is printed, and what --json gets.
struct Prepared {
  std::string text;
  std::string json;
};

Prepared of_pipeline(const PrepareArguments& arguments, prepare::Options options,
                     const std::stop_token& stop, ProgressLine& progress) {
  options.stop = stop;
  options.progress = [&progress](const std::string& line) { progress.show(line); };
  const Registry registry = make_registry(arguments.pipeline.plugins);
  const OpenContext opening{.stop = stop, .progress = options.progress};
  const Pipeline pipeline = Pipeline::from_spec(
      prepare::without_caches(load_spec(arguments.pipeline, registry), registry), registry,
      opening);
  const prepare::Result result = prepare::prepare(pipeline, options);
  return {to_text(result, text_options(arguments.color, STDOUT_FILENO)), to_json(result)};
}

/// Lines of the script's own process.
std::string printable_lines(const std::string& text) {
  std::string lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines += printable(line) + '\n';
  return lines;
}

Prepared of_script(CommandWithFolder& run, const prepare::ScriptRequest& request,
                   const std::stop_token& stop) {
  const prepare::ScriptResult result = prepare::prepare_script(run, request, stop);
  std::string text = printable_lines(result.text);
  if (!result.lines.empty()) text += "\nIn the script:\n";
  for (const std::string& line : result.lines) text += "  " + printable(line) + '\n';
  return {std::move(text), result.json + '\n'};
}

int run(const PrepareArguments& arguments) {
  check(arguments);
  const prepare::Options options = options_of(arguments);
  static_cast<void>(use_color(arguments.color, STDOUT_FILENO));
  std::optional<OutputFile> json;
  if (!arguments.json.empty() && arguments.json != "-") json.emplace(arguments.json);
  CommandWithFolder script;
  SignalWatch signals({.remove_temporaries = [&] {
    if (json) json->discard();
    script.abandon();
  }});
  ProgressLine progress(!arguments.no_progress && isatty(STDERR_FILENO) != 0);
  const auto prepared = [&] {
    if (arguments.command.empty()) {
      return of_pipeline(arguments, options, signals.token(), progress);
    }
    signals.begin_output();  // The longest patience: a command may take long to end.
    return of_script(script, request_of(arguments), signals.token());
  };
  const auto work = [&] {
    const Prepared answer = prepared();
    signals.begin_output();
    progress.clear();
    if (json) json->commit(answer.json);
    signals.begin_streams();
    std::cout << (arguments.json == "-" ? answer.json : answer.text) << std::flush;
    return 0;
  };
  return run_until_signal(signals, work, [] {
    print_error("interrupted; shards that are whole stay, and the same command goes on from there");
  });
}

}  // namespace

Command add_prepare(CLI::App& app) {
  auto arguments = std::make_shared<PrepareArguments>();
  add_pipeline_options(app, arguments->pipeline);
  app.add_option("--out", arguments->out, "folder of the prepared data set; made if it is missing")
      ->type_name("FOLDER");
  app.add_option("--after", arguments->after,
                 "the stage whose output is stored; without it, what gains most")
      ->type_name("STAGE");
  app.add_option("--codec", arguments->codec,
                 "none, lz4 or zstd:LEVEL; without it none, or what gains most if --after is "
                 "not given")
      ->type_name("CODEC");
  app.add_option("--shard-size", arguments->shard_size,
                 "bytes at which a file ends (128MiB; more for a set of more than 512 such files)")
      ->type_name("BYTES");
  add_allow_option(app, arguments->allowed,
                   "also behind random stages, whose draws then repeat in every epoch");
  app.add_option("--hook", arguments->hook,
                 "folder of the Python hook (that of the installed package)")
      ->type_name("DIR");
  app.add_option(
         "--loader", arguments->loader,
         "prepare the data set of the N-th DataLoader that the script iterates, from 1 (the "
         "first one that trains)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("command", arguments->command, "after --: the Python command that trains")
      ->type_name("-- CMD ARGS...");
  app.add_flag("--dry-run", arguments->dry_run, "measure what it would gain, and write nothing");
  app.add_option("--json", arguments->json, "write the table as JSON; - is standard output")
      ->type_name("FILE");
  app.add_flag("--no-progress", arguments->no_progress, "no progress on standard error");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
