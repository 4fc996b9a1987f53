// A node's side of a job of several machines: its processes connect here. What they say is carried
// to the engine, and what all ranks are asked at the same time is asked from here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/remote/join_messages.hpp"
#include "cachebisect/remote/message_channel.hpp"
#include "cachebisect/remote/node_connection.hpp"
#include "cachebisect/remote/relay_ask.hpp"
#include "cachebisect/remote/relayed_process.hpp"
#include "cachebisect/remote/socket_listener.hpp"
#include "cachebisect/remote/tcp_socket.hpp"

namespace cachebisect {

struct NodeRelayOptions {
  TcpAddress engine;
  std::string token;
  std::string node;                  ///< name of this one
  double join_seconds = 60;          ///< until the engine must have answered
  double answer_seconds = 5;         ///< for one answer of what listens there
  std::shared_ptr<const Tls> tls{};  ///< empty: connections are not encrypted
};

/// Why a relay has nothing more to do.
enum class RelayEnd {
  finished,       ///< the engine says so
  engine_gone,    ///< training goes on
  command_ended,  ///< before the engine said anything
  stopped,
};

/// Not thread safe.
class CACHEBISECT_INTERNAL_API NodeRelay {
 public:
  /// Waits until the engine listens, and joins; this node's processes connect in `folder`. Throws
  /// Error(usage) with the reason if that fails or the engine refuses, and Error(interrupted) on
  /// `stop`.
  NodeRelay(NodeRelayOptions options, const PrivateFolder& folder, const std::stop_token& stop);

  /// Where this node's processes connect.
  [[nodiscard]] const std::string& socket_path() const noexcept { return listener_.path(); }
  /// CACHEBISECT_... variables of the command, as the engine wants them.
  [[nodiscard]] const std::map<std::string, std::string>& environment() const noexcept {
    return environment_;
  }
  /// Carries messages, and asks ranks for the engine. `command_ended` becomes readable when the
  /// command has ended.
  RelayEnd run(int command_ended, const std::stop_token& stop);
  /// After `finished`.
  [[nodiscard]] const RunEnd& finish() const noexcept { return finish_; }
  /// Closes all connections: the processes of this node go on without being measured.
  void close() noexcept;

 private:
  /// A connection to the engine that has joined, for `purpose`.
  MessageChannel join(JoinedFor purpose, double seconds, const std::stop_token& stop);
  void add_process(FileDescriptor socket, MessageChannel channel);
  void wait(int command_ended, int stopped, std::optional<double> deadline) const;
  void accept_processes(const std::stop_token& stop);
  void carry_all();
  /// False if the engine has ended the connection.
  bool serve_engine();
  void answer(const nlohmann::json& request);
  void send_asked();

  NodeRelayOptions options_;
  SocketListener listener_;
  std::map<std::string, std::string> environment_;
  std::optional<MessageChannel> engine_;
  RelayedProcesses processes_;
  std::uint64_t last_number_ = 0;  ///< of a process
  RelayAsk asked_;                 ///< after processes_: it uses them
  bool begun_ = false;             ///< a process has connected
  bool finished_ = false;
  RunEnd finish_;
};

}  // namespace cachebisect
