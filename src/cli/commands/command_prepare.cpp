// `prepare`: writes a data set once, at a stage, and the pipeline that reads it.
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "commands/quantities.hpp"
#include "output/output_file.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/pipeline/open_context.hpp"
#include "cachebisect/prepare/prepare.hpp"
#include "cachebisect/prepare/prepare_text.hpp"

namespace cachebisect::cli {
namespace {

struct PrepareArguments {
  PipelineOptions pipeline;
  std::string out;
  std::string after;
  std::string codec;
  std::string shard_size = "128MiB";
  std::vector<std::string> allowed;
  bool dry_run = false;
  std::string json;
  bool no_progress = false;
  std::string color = "auto";
};

prepare::Options options_of(const PrepareArguments& arguments) {
  if (arguments.out.empty()) {
    throw Error(ErrorKind::usage, "--out FOLDER is needed: where the prepared data set goes");
  }
  prepare::Options options{.folder = arguments.out,
                           .after = arguments.after,
                           .codec = arguments.codec,
                           .dry_run = arguments.dry_run};
  for (const std::string& what : arguments.allowed) {
    if (what != "semantic") throw Error(ErrorKind::usage, "--allow " + what + ": semantic");
    options.random_too = true;
  }
  const double bytes = parse_bytes("--shard-size", arguments.shard_size, 0);
  if (arguments.shard_size.ends_with('%') || !(bytes >= 1)) {
    throw Error(ErrorKind::usage, "--shard-size: bytes, such as 128MiB");
  }
  options.shard_bytes = static_cast<std::uint64_t>(bytes);
  return options;
}

int run(const PrepareArguments& arguments) {
  prepare::Options options = options_of(arguments);
  const TextOptions text = text_options(arguments.color, STDOUT_FILENO);
  std::optional<OutputFile> json;
  if (!arguments.json.empty() && arguments.json != "-") json.emplace(arguments.json);
  SignalWatch signals({.remove_temporaries = [&] {
    if (json) json->discard();
  }});
  ProgressLine progress(!arguments.no_progress && isatty(STDERR_FILENO) != 0);
  options.stop = signals.token();
  options.progress = [&](const std::string& line) { progress.show(line); };
  const auto work = [&] {
    const Registry registry = make_registry(arguments.pipeline.plugins);
    const OpenContext opening{.stop = options.stop, .progress = options.progress};
    const Pipeline pipeline =
        Pipeline::from_spec(load_spec(arguments.pipeline, registry), registry, opening);
    const prepare::Result result = prepare::prepare(pipeline, options);
    signals.begin_output();
    progress.clear();
    if (json) json->commit(to_json(result));
    signals.begin_streams();
    std::cout << (arguments.json == "-" ? to_json(result) : to_text(result, text)) << std::flush;
    return 0;
  };
  return run_until_signal(signals, work, [] { print_error("interrupted"); });
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
                 "none, lz4 or zstd:LEVEL; without it, what gains most")
      ->type_name("CODEC");
  app.add_option("--shard-size", arguments->shard_size, "bytes of a file (128MiB)")
      ->type_name("BYTES");
  app.add_option("--allow", arguments->allowed,
                 "semantic: also behind random stages, whose draws then repeat in every epoch")
      ->delimiter(',')
      ->type_name("semantic");
  app.add_flag("--dry-run", arguments->dry_run, "measure what it would gain, and write nothing");
  app.add_option("--json", arguments->json, "write the table as JSON; - is standard output")
      ->type_name("FILE");
  app.add_flag("--no-progress", arguments->no_progress, "no progress on standard error");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
