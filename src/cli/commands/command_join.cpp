// `join HOST:PORT -- CMD`: starts the command of one node of a job that another node measures.
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/node_options.hpp"
#include "commands/script_command.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/remote/node_relay.hpp"

namespace cachebisect::cli {
namespace {

struct JoinArguments {
  std::string engine;
  std::string hook;
  std::string name;
  std::string certificate;
  double join_seconds = 60;
  std::optional<double> grace_seconds;
  std::vector<std::string> command;
};

/// The command's exit code, as of `run --then continue`.
int code_of(ScriptCommand& command) {
  return command.status()->ok() ? 0 : exit_code(ErrorKind::data);
}

class Join {
 public:
  explicit Join(const JoinArguments& arguments) : arguments_(arguments), command_(arguments.hook) {}

  int run(const SignalWatch& signals) {
    NodeRelay relay(relay_options(), folder_, signals.token());
    auto environment = relay.environment();
    environment.emplace("CACHEBISECT_SOCKET", relay.socket_path());
    command_.start(arguments_.command, std::move(environment), false);
    const RelayEnd end = relay.run(command_.descriptor(), signals.token());
    relay.close();
    switch (end) {
      case RelayEnd::finished:
        return after(relay.finish(), signals);
      case RelayEnd::engine_gone:
        print_error("the node that measures is gone: training goes on");
        return train_on(signals);
      case RelayEnd::command_ended:
        return code_of(command_);
      case RelayEnd::stopped:
        break;
    }
    return end_by_signal(false, signals);
  }

  void abandon() {
    command_.kill();
    folder_.remove();
  }

 private:
  [[nodiscard]] NodeRelayOptions relay_options() const {
    const std::string token = given_token();
    if (token.empty()) {
      throw Error(ErrorKind::usage,
                  "CACHEBISECT_TOKEN is not set: `cachebisect run --nodes N` says what it is, or "
                  "takes the one that is set there");
    }
    const std::string& certificate = arguments_.certificate;
    return {.engine = parse_address(arguments_.engine),
            .token = token,
            .node = node_name(arguments_.name),
            .join_seconds = arguments_.join_seconds,
            .tls = certificate.empty() ? nullptr : tls_of_relay(certificate)};
  }

  int after(const RunEnd& finish, const SignalWatch& signals) {
    if (finish.exit_code > kSignalBase) return end_as_engine(finish.exit_code);
    if (finish.told && !finish.exit) {
      const int code = train_on(signals);
      return code != 0 ? code : finish.exit_code;
    }
    const Told how = finish.told ? Told::yes : finish.measured ? Told::no : Told::never;
    command_.wait_for_end(how, arguments_.grace_seconds, signals.token());
    if (signals.exit_code() != 0) return end_by_signal(true, signals);
    command_.end(false, SIGTERM);
    return finish.exit_code;
  }

  /// A signal has ended the engine.
  int end_as_engine(int exit_code) {
    command_.end(true, exit_code - kSignalBase);
    return exit_code;
  }

  int train_on(const SignalWatch& signals) {
    static_cast<void>(command_.ends_within(std::nullopt, signals.token()));
    return signals.exit_code() != 0 ? end_by_signal(false, signals) : code_of(command_);
  }

  int end_by_signal(bool ending, const SignalWatch& signals) {
    const int caught = signals.exit_code();
    command_.end(ending, caught == 0 ? SIGTERM : caught - kSignalBase);
    return caught;
  }

  const JoinArguments& arguments_;
  PrivateFolder folder_;
  ScriptCommand command_;
};

int run(const JoinArguments& arguments) {
  if (arguments.command.empty()) {
    throw Error(ErrorKind::usage, "nothing to train: give the command of this node after --");
  }
  Join join(arguments);
  SignalWatch signals({.remove_temporaries = [&join] { join.abandon(); }});
  signals.begin_output();  // The longest patience: a command may take long to end.
  try {
    return join.run(signals);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    return signals.exit_code();
  }
}

}  // namespace

Command add_join(CLI::App& app) {
  auto arguments = std::make_shared<JoinArguments>();
  app.add_option("engine", arguments->engine, "where `cachebisect run --nodes N` listens")
      ->type_name("HOST:PORT")
      ->required();
  app.add_option("--hook", arguments->hook,
                 "folder of the Python hook (that of the installed package)")
      ->type_name("DIR");
  app.add_option("--name", arguments->name, "name of this node in reports (the machine's name)")
      ->type_name("NAME");
  add_certificate_option(app, arguments->certificate,
                         "connect by TLS: PEM file with the certificate of `run --cert`, or of "
                         "what has signed it");
  app.add_option("--join-timeout", arguments->join_seconds,
                 "seconds until the engine must have answered (60)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_option("--grace", arguments->grace_seconds,
                 "seconds that the command may take to end after the verdict, such as for a last "
                 "checkpoint (as long as it needs)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  app.add_option("command", arguments->command, "after --: the command that trains on this node")
      ->type_name("-- CMD ARGS...");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
