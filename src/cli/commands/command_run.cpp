// `run -- CMD`: bisects the training loop of a command.
#include <memory>

#include "commands/commands.hpp"
#include "commands/script_run.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {
namespace {

struct RunArguments {
  AttachArguments attach;
  ScriptArguments script;
};

int run(const RunArguments& arguments) {
  const BisectArguments& bisect = arguments.attach.bisect;
  const BisectOptions options = attach_options(arguments.attach);
  ScriptRun script(arguments.script, arguments.attach);
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
  app.get_option("command")->required();
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
