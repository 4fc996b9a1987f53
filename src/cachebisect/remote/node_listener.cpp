#include "cachebisect/remote/node_listener.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

/// The time that a connection may take to say what it is. One that does not is no node.
constexpr double kGreetingSeconds = 10;
constexpr double kRefusalSeconds = 1;
constexpr std::size_t kMaxGuests = 256;
/// The longest request to join. A connection that sends more has no token, and gets no memory.
constexpr std::size_t kMaxRequestBytes = std::size_t{4} << 10U;
/// What TLS begins with, and no message does: a record of a handshake.
constexpr char kTlsHandshake = '\x16';

}  // namespace

NodeListener::NodeListener(NodeListenerOptions options)
    : options_(std::move(options)),
      socket_(listen_tcp(options_.address)),
      deadline_(monotonic_seconds() + options_.join_seconds) {
  options_.address.port = port_of(socket_);
}

void NodeListener::add_descriptors(std::vector<int>& descriptors) const {
  descriptors.push_back(socket_.get());
  for (const Guest& guest : guests_) descriptors.push_back(guest.channel.descriptor());
  for (const auto& node : nodes_) descriptors.push_back(node->descriptor());
}

void NodeListener::serve() {
  for (const auto& node : nodes_) node->check();
  accept_all();
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    guest = serve(*guest) ? std::next(guest) : guests_.erase(guest);
  }
  if (!is_complete() && monotonic_seconds() >= deadline_) fail_without_nodes();
}

void NodeListener::accept_all() {
  for (FileDescriptor socket = accept_tcp(socket_); socket.is_open();
       socket = accept_tcp(socket_)) {
    if (guests_.size() >= kMaxGuests) guests_.pop_front();
    SocketStream stream(std::move(socket), options_.tls.get());
    guests_.push_back({MessageChannel(std::move(stream)), monotonic_seconds() + kGreetingSeconds});
  }
}

bool NodeListener::serve(Guest& guest) {
  try {
    const bool open = guest.channel.read_available(kMaxRequestBytes);
    check_tls(guest);
    const auto line = guest.channel.next();
    if (!line && guest.channel.waiting().size() > kMaxRequestBytes) return false;
    if (!line) return open && monotonic_seconds() < guest.deadline;
    admit(guest, *line);
  } catch (const Error& error) {
    static_cast<void>(guest.channel.send(line_of(join_refusal(error.what())), kRefusalSeconds));
  }
  return false;
}

void NodeListener::check_tls(const Guest& guest) {
  const TlsFailure failure = guest.channel.failure();
  if (!failure.text.empty()) {
    failure_ = "no TLS: " + failure.text +
               " (`cachebisect join` needs --cert, with the certificate that --cert of "
               "`cachebisect run` names, or with that of what has signed it)";
  } else if (!options_.tls && guest.channel.waiting().starts_with(kTlsHandshake)) {
    failure_ = "it has begun TLS (`cachebisect run` needs --cert and --key then)";
  } else {
    return;
  }
  throw Error(ErrorKind::usage, failure_);
}

void NodeListener::admit(Guest& guest, const std::string& line) {
  const JoinRequest request = read_join_request(line);
  if (!same_token(request.token, options_.token)) {
    throw Error(ErrorKind::usage,
                "wrong token: CACHEBISECT_TOKEN must be that of `cachebisect run` on node " +
                    options_.own_name);
  }
  if (request.purpose == JoinedFor::node) {
    admit_node(guest, request);
  } else {
    admit_process(guest, request);
  }
}

void NodeListener::admit_node(Guest& guest, const JoinRequest& request) {
  if (find(request.node) || request.node == options_.own_name) {
    throw Error(ErrorKind::usage, "a node named " + request.node +
                                      " is part of the job already; give another name with --name");
  }
  if (is_complete()) {
    throw Error(ErrorKind::usage, "all " + std::to_string(options_.others + 1) +
                                      " nodes are there already; see --nodes of `cachebisect run`");
  }
  if (!guest.channel.send(line_of(to_json(options_.answer)), kRefusalSeconds)) return;
  nodes_.push_back(std::make_shared<NodeConnection>(request.node, guest.channel.release()));
}

void NodeListener::admit_process(Guest& guest, const JoinRequest& request) {
  auto node = find(request.node);
  if (!node) throw Error(ErrorKind::usage, "no node named " + request.node + " has joined");
  if (!guest.channel.send(line_of(to_json(JoinAnswer{})), kRefusalSeconds)) return;
  processes_.push_back({guest.channel.release(), std::move(node), request.process});
}

std::shared_ptr<NodeConnection> NodeListener::find(const std::string& name) const {
  const auto found =
      std::ranges::find_if(nodes_, [&](const auto& node) { return node->name() == name; });
  return found == nodes_.end() ? nullptr : *found;
}

std::optional<NodeListener::Process> NodeListener::next_process() {
  if (processes_.empty()) return std::nullopt;
  Process process = std::move(processes_.front());
  processes_.pop_front();
  return process;
}

void NodeListener::close() noexcept {
  if (!socket_.is_open()) return;
  // The relays first: what they still ask for is refused at once.
  for (const auto& node : nodes_) node->close_to_processes();
  socket_ = {};
  guests_.clear();
  processes_.clear();
}

void NodeListener::finish(const RunEnd& end) noexcept {
  for (const auto& node : nodes_) node->finish(end);
}

void NodeListener::fail_without_nodes() const {
  std::string joined;
  for (const auto& node : nodes_) joined += (joined.empty() ? "" : ", ") + node->name();
  throw Error(ErrorKind::usage,
              "only " + std::to_string(nodes_.size()) + " of " + std::to_string(options_.others) +
                  " other nodes have joined within " + format_seconds(options_.join_seconds) +
                  (joined.empty() ? "" : ": " + joined) + "; start `cachebisect join " +
                  to_string(options_.address) + (options_.tls ? " --cert FILE" : "") +
                  " -- CMD` on each of them, see that this address is reached from there, or raise "
                  "--join-timeout" +
                  (failure_.empty() ? "" : "; the last connection that failed: " + failure_));
}

}  // namespace cachebisect
