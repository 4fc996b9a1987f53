// Jobs of several machines: the options of `run` on one of them, and the token that all share.
#pragma once

#include <memory>
#include <string>

#include "commands/script_command.hpp"

#include "cachebisect/remote/node_listener.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cachebisect::cli {

/// The default port of `run --nodes`.
inline constexpr int kNodesPort = 29740;

struct NodeArguments {
  int nodes = 1;
  std::string address;  ///< empty: that of the machine's name
  int port = kNodesPort;
  double join_seconds = 60;
  std::string name;         ///< empty: the machine's
  std::string certificate;  ///< empty: connections are not encrypted
  std::string key;          ///< empty: in the file of the certificate
};

void add_node_options(CLI::App& app, NodeArguments& arguments);
/// `--cert FILE`, with this help. No name of a file is refused: a variable of a shell that is not
/// set must not turn TLS off.
CLI::Option* add_certificate_option(CLI::App& app, std::string& file, const std::string& help);
/// --name, else the machine's name. Throws Error(usage) if it cannot be the name of a node.
[[nodiscard]] std::string node_name(const std::string& chosen);
/// $CACHEBISECT_TOKEN; empty if it is not set. Throws Error(usage) if it is too short.
[[nodiscard]] std::string given_token();

/// Listens for the other nodes, and says on standard error how they join; empty for a job of one
/// machine. Throws Error(usage) if there is no such address, or the port is taken.
[[nodiscard]] std::unique_ptr<NodeListener> listen_for_nodes(
    const NodeArguments& arguments, std::map<std::string, std::string> environment);

}  // namespace cachebisect::cli
