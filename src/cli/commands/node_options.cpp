#include "commands/node_options.hpp"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "shell/log.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {
namespace {

constexpr const char* kTokenVariable = "CACHEBISECT_TOKEN";
/// Fewer characters can be guessed.
constexpr std::size_t kMinToken = 16;

std::string own_address(const std::string& chosen) {
  std::string host = chosen.empty() ? machine_name() : chosen;
  // A number that was given is meant.
  if (is_numeric(host) || !is_loopback(host)) return host;
  throw Error(ErrorKind::usage, "--nodes: on this machine, " + host +
                                    " is an address that only itself can reach; give the number of "
                                    "one that the other nodes reach with --address");
}

void tell_how_to_join(const NodeListener& nodes, const std::string& new_token, bool with_tls) {
  TcpAddress address = nodes.address();
  if (address.host == "0.0.0.0" || address.host == "::") address.host = machine_name();
  const std::string join =
      "cachebisect join " + to_string(address) + (with_tls ? " --cert FILE" : "") + " -- CMD";
  if (new_token.empty()) {
    print_error("on each other node: " + join);
  } else {
    print_error("on each other node: " + std::string(kTokenVariable) + "=" + new_token + " " +
                join);
  }
}

}  // namespace

void add_node_options(CLI::App& app, NodeArguments& arguments) {
  app.add_option("--nodes", arguments.nodes,
                 "machines of the job: on each other one, `cachebisect join` starts the command")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  app.add_option("--address", arguments.address,
                 "where to listen for the other nodes (the address of this machine's name)")
      ->type_name("HOST");
  app.add_option("--port", arguments.port, "port to listen on (" + std::to_string(kNodesPort) + ")")
      ->type_name("PORT")
      ->check(CLI::Range(0, kMaxPort));
  app.add_option("--join-timeout", arguments.join_seconds,
                 "seconds until all nodes must have joined (60)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_option("--name", arguments.name, "name of this node in reports (the machine's name)")
      ->type_name("NAME");
  CLI::Option* const certificate = add_certificate_option(
      app, arguments.certificate,
      "PEM file with the certificate of --address, and those that have signed it: the other nodes "
      "connect by TLS");
  app.add_option("--key", arguments.key, "PEM file with the key of --cert (that file)")
      ->type_name("FILE")
      ->needs(certificate);
}

CLI::Option* add_certificate_option(CLI::App& app, std::string& file, const std::string& help) {
  return app.add_option("--cert", file, help)
      ->type_name("FILE")
      ->check([](const std::string& name) {
        return name.empty() ? std::string("a PEM file is needed") : std::string();
      });
}

std::string node_name(const std::string& chosen) {
  std::string name = chosen.empty() ? machine_name() : chosen;
  check_node_name(name);
  return name;
}

std::string given_token() {
  const char* const given = std::getenv(kTokenVariable);
  std::string token = given == nullptr ? "" : given;
  if (!token.empty() && token.size() < kMinToken) {
    throw Error(ErrorKind::usage, std::string(kTokenVariable) + ": at least " +
                                      std::to_string(kMinToken) +
                                      " characters are needed, as of `openssl rand -hex 16`");
  }
  return token;
}

std::unique_ptr<NodeListener> listen_for_nodes(const NodeArguments& arguments,
                                               std::map<std::string, std::string> environment) {
  if (arguments.nodes < 2) return nullptr;
  const bool with_tls = !arguments.certificate.empty();
  const std::string given = given_token();
  const std::string made = given.empty() ? new_token() : "";
  auto nodes = std::make_unique<NodeListener>(NodeListenerOptions{
      .address = {own_address(arguments.address), arguments.port},
      .token = given + made,
      .own_name = node_name(arguments.name),
      .others = static_cast<std::size_t>(arguments.nodes) - 1,
      .join_seconds = arguments.join_seconds,
      .answer = {std::move(environment)},
      .tls = with_tls ? tls_of_engine(arguments.certificate, arguments.key) : nullptr,
  });
  tell_how_to_join(*nodes, made, with_tls);
  return nodes;
}

}  // namespace cachebisect::cli
