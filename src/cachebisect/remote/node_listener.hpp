// The TCP socket on which the engine listens for the other nodes of a job.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/remote/join_messages.hpp"
#include "cachebisect/remote/message_channel.hpp"
#include "cachebisect/remote/node_connection.hpp"
#include "cachebisect/remote/tcp_socket.hpp"

namespace cachebisect {

struct NodeListenerOptions {
  TcpAddress address;
  std::string token;
  std::string own_name;  ///< of this node
  std::size_t others = 1;
  double join_seconds = 60;  ///< until all of them have joined
  JoinAnswer answer;
  std::shared_ptr<const Tls> tls{};  ///< empty: connections are not encrypted
};

/// Not thread safe.
class CACHEBISECT_INTERNAL_API NodeListener {
 public:
  /// Throws Error(usage) that names the address if it cannot be listened on.
  explicit NodeListener(NodeListenerOptions options);

  /// With the port that was taken.
  [[nodiscard]] const TcpAddress& address() const noexcept { return options_.address; }
  [[nodiscard]] const std::string& own_name() const noexcept { return options_.own_name; }
  void add_descriptors(std::vector<int>& descriptors) const;
  /// Takes what has arrived. Throws Error(usage) naming those that have joined if some have not in
  /// time, and Error(data) if one that had joined is gone.
  void serve();
  [[nodiscard]] bool is_complete() const noexcept { return nodes_.size() == options_.others; }
  /// When serve() would throw because some have not joined, on the monotonic clock.
  [[nodiscard]] double deadline() const noexcept { return deadline_; }

  /// A connection of a process on another node.
  struct Process {
    SocketStream socket;
    std::shared_ptr<NodeConnection> node;
    std::uint64_t number = 0;  ///< that its relay knows it by
  };
  std::optional<Process> next_process();
  /// Listens no more, and has the other nodes do the same. May be called twice.
  void close() noexcept;
  /// Tells the relays of all nodes how the run has ended. Never throws.
  void finish(const RunEnd& end) noexcept;

 private:
  /// A connection that has not said what it is for.
  struct Guest {
    MessageChannel channel;
    double deadline = 0;
  };
  void accept_all();
  /// False if the guest is none any more.
  bool serve(Guest& guest);
  /// Throws Error(usage), and notes it, if the guest and this side do not agree on TLS.
  void check_tls(const Guest& guest);
  void admit(Guest& guest, const std::string& line);
  void admit_node(Guest& guest, const JoinRequest& request);
  void admit_process(Guest& guest, const JoinRequest& request);
  [[nodiscard]] std::shared_ptr<NodeConnection> find(const std::string& name) const;
  [[noreturn]] void fail_without_nodes() const;

  NodeListenerOptions options_;
  FileDescriptor socket_;
  double deadline_;
  std::list<Guest> guests_;
  std::vector<std::shared_ptr<NodeConnection>> nodes_;
  std::list<Process> processes_;
  std::string failure_;  ///< of the last guest that did not agree on TLS
};

}  // namespace cachebisect
