// `run -- CMD`: bisects the training loop of a command.
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/lightning_options.hpp"
#include "commands/script_run.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {
namespace {

/// Epochs of a training that ends with the verdict.
constexpr const char* kUntilVerdict = "1000000";

struct RunArguments {
  AttachArguments attach;
  ScriptArguments script;
  LightningArguments lightning;
  NodeArguments nodes;
};

/// Throws Error(usage) if there is nothing to train.
ScriptArguments script_of(const RunArguments& arguments) {
  ScriptArguments script = arguments.script;
  check_lightning(arguments.lightning, !script.command.empty());
  if (arguments.lightning.given()) {
    std::vector<std::string> more;
    if (arguments.attach.then == "exit") more = {"--epochs", kUntilVerdict};
    script.command = lightning_command(arguments.lightning, script.hook, more);
  }
  if (script.command.empty()) {
    throw Error(ErrorKind::usage, "nothing to train: give a command after --, or -c FILE");
  }
  return script;
}

int run(const RunArguments& arguments) {
  const BisectArguments& bisect = arguments.attach.bisect;
  const BisectOptions options = attach_options(arguments.attach);
  const ScriptArguments started = script_of(arguments);
  ScriptRun script(started, arguments.attach, arguments.nodes);
  const auto measure = [&](SessionTools& tools) {
    AttachedRun& attached = script.begin(tools, bisect.report.uses_stdout());
    try {
      return attached.measure(tools);
    } catch (const Error& error) {
      throw Error(script.with_end_of_command(error));
    }
  };
  return run_session(bisect, options,
                     {.measure = measure,
                      .end = [&](const SessionEnd& end) { return script.end(end); },
                      .abandon = [&] { script.abandon(); }});
}

}  // namespace

Command add_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  add_attach_options(app, arguments->attach, "exit");
  add_script_options(app, arguments->script);
  add_lightning_options(app, arguments->lightning);
  add_node_options(app, arguments->nodes);
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
