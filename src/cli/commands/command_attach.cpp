#include <memory>

#include "commands/attached_run.hpp"
#include "commands/commands.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {
namespace {

struct CommandArguments {
  AttachArguments attach;
  std::string socket;
};

int run(const CommandArguments& arguments) {
  const BisectOptions options = attach_options(arguments.attach);
  SocketListener listener(arguments.socket);
  AttachedRun attached(arguments.attach, listener);
  const auto measure = [&](SessionTools& tools) {
    if (attached.attach(tools, -1)) return attached.measure(tools);
    throw Error(ErrorKind::usage,
                "the training process ended without iterating a loader; seen: " + attached.seen());
  };
  return run_session(arguments.attach.bisect, options,
                     {.measure = measure, .end = [&](const SessionEnd& end) {
                        attached.finish(end);
                        return end.exit_code;
                      }});
}

}  // namespace

Command add_attach(CLI::App& app) {
  auto arguments = std::make_shared<CommandArguments>();
  add_attach_options(app, arguments->attach, "continue");
  app.add_option("--socket", arguments->socket,
                 "where to listen; the training process connects to it")
      ->type_name("PATH")
      ->required();
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
