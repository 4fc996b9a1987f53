#include "cachebisect/remote/node_relay.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/stop_event.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

/// Between two attempts to reach an engine that does not listen yet.
constexpr double kRetrySeconds = 0.25;
constexpr double kAttemptSeconds = 2;
/// What an engine may take to read a message.
constexpr double kSendToEngineSeconds = 5;
/// What the engine's last word may take after the command has ended.
constexpr double kLastWordSeconds = 5;

[[noreturn]] void stop_joining() { throw Error(ErrorKind::interrupted, "stopped"); }

void wait_for_stop(const StopEvent& stopped, double seconds, const std::stop_token& stop) {
  static_cast<void>(wait_readable({stopped.descriptor()}, monotonic_seconds() + seconds));
  if (stop.stop_requested()) stop_joining();
}

/// Tries for `seconds`; at least once.
FileDescriptor reach(const TcpAddress& engine, double seconds, const std::stop_token& stop) {
  const StopEvent stopped(stop);
  const double deadline = monotonic_seconds() + seconds;
  std::string why;
  for (;;) {
    FileDescriptor socket = connect_tcp(engine, kAttemptSeconds, why);
    if (socket.is_open()) return socket;
    if (monotonic_seconds() >= deadline) break;
    wait_for_stop(stopped, kRetrySeconds, stop);
  }
  throw Error(ErrorKind::usage, to_string(engine) + " is not reached within " +
                                    format_seconds(seconds) + ": " + why +
                                    "; `cachebisect run --nodes N` says where it listens");
}

/// `silent`: the engine has not answered in time; else it has ended the connection.
[[noreturn]] void fail_in_tls(const NodeRelayOptions& options, const TlsFailure& failure,
                              bool silent) {
  const std::string engine = to_string(options.engine);
  if (failure.untrusted) {
    throw Error(ErrorKind::usage,
                engine + ": its certificate is not trusted: " + failure.text +
                    "; the certificate of `cachebisect run --cert` must be for " +
                    options.engine.host +
                    ", and --cert here must have that one, or that of what has signed it");
  }
  const std::string ended = silent ? "no answer" : "the connection has ended";
  const std::string why = failure.text.empty() ? ended : failure.text;
  throw Error(ErrorKind::usage, engine + ": no TLS connection: " + why +
                                    "; --cert here needs `cachebisect run --cert` there");
}

/// A connection to the engine, which is sent the token over it: with TLS once it is trusted.
SocketStream secured(FileDescriptor socket, const NodeRelayOptions& options,
                     const std::stop_token& stop) {
  SocketStream stream(std::move(socket), options.tls.get(), options.engine.host);
  const StopEvent stopped(stop);
  const double deadline = monotonic_seconds() + options.answer_seconds;
  for (;;) {
    const ssize_t done = stream.handshake();
    if (done > 0) return stream;
    const bool waits = done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (stop.stop_requested()) stop_joining();
    if (!waits || monotonic_seconds() >= deadline) fail_in_tls(options, stream.failure(), waits);
    static_cast<void>(wait_readable({stream.descriptor(), stopped.descriptor()}, deadline));
  }
}

/// The next line that arrives.
std::string await_line(MessageChannel& channel, const NodeRelayOptions& options,
                       const std::stop_token& stop) {
  const StopEvent stopped(stop);
  const double deadline = monotonic_seconds() + options.answer_seconds;
  for (;;) {
    const bool open = channel.read_available();
    if (auto line = channel.next()) return *std::move(line);
    if (stop.stop_requested()) stop_joining();
    if (!open || monotonic_seconds() >= deadline) break;
    static_cast<void>(wait_readable({channel.descriptor(), stopped.descriptor()}, deadline));
  }
  throw Error(ErrorKind::usage, to_string(options.engine) +
                                    " does not answer a request to join: is it where `cachebisect "
                                    "run --nodes N` listens" +
                                    (options.tls ? "?" : "? If it has --cert, give it here too"));
}

}  // namespace

NodeRelay::NodeRelay(NodeRelayOptions options, const PrivateFolder& folder,
                     const std::stop_token& stop)
    : options_(std::move(options)), listener_(folder.path() + "/socket") {
  check_node_name(options_.node);
  engine_.emplace(join(JoinedFor::node, options_.join_seconds, stop));
}

MessageChannel NodeRelay::join(JoinedFor purpose, double seconds, const std::stop_token& stop) {
  MessageChannel channel(secured(reach(options_.engine, seconds, stop), options_, stop));
  channel.send(line_of(to_json(JoinRequest{options_.token, options_.node, purpose, last_number_})),
               options_.answer_seconds);
  const std::string line = await_line(channel, options_, stop);
  try {
    const JoinAnswer joined = read_join_answer(line);
    if (purpose == JoinedFor::node) environment_ = joined.environment;
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, to_string(options_.engine) + ": " + error.what());
  }
  return channel;
}

RelayEnd NodeRelay::run(int command_ended, const std::stop_token& stop) {
  const StopEvent stopped(stop);
  std::optional<double> last_word;
  for (;;) {
    carry_all();
    send_asked();
    if (!serve_engine()) return finished_ ? RelayEnd::finished : RelayEnd::engine_gone;
    if (finished_) return RelayEnd::finished;
    accept_processes(stop);
    if (stop.stop_requested()) return RelayEnd::stopped;
    const bool ended = !wait_readable({command_ended}, 0).empty();
    if (ended && !last_word) last_word = monotonic_seconds() + kLastWordSeconds;
    if (ended && (!begun_ || monotonic_seconds() >= *last_word)) return RelayEnd::command_ended;
    wait(ended ? -1 : command_ended, stopped.descriptor(), last_word);
  }
}

void NodeRelay::wait(int command_ended, int stopped, std::optional<double> deadline) const {
  std::vector<pollfd> polled{{listener_.descriptor(), POLLIN, 0},
                             {engine_->descriptor(), POLLIN, 0},
                             {asked_.descriptor(), POLLIN, 0},
                             {command_ended, POLLIN, 0},
                             {stopped, POLLIN, 0}};
  for (const RelayedProcess& process : processes_) {
    if (!process.asked) process.carried.add_to(polled);
  }
  constexpr double kMilliseconds = 1e3;
  const double left = deadline ? std::max(0.0, *deadline - monotonic_seconds()) : 0;
  static_cast<void>(::poll(polled.data(), polled.size(),
                           deadline ? static_cast<int>(std::ceil(kMilliseconds * left)) : -1));
}

void NodeRelay::accept_processes(const std::stop_token& stop) {
  for (FileDescriptor socket = listener_.accept(); socket.is_open(); socket = listener_.accept()) {
    try {
      ++last_number_;
      add_process(std::move(socket), join(JoinedFor::process, 0, stop));  // None waits for long.
      begun_ = true;
    } catch (const Error&) {
      // The process sees the end of its connection, and trains on. The engine says why, if it ends.
    }
  }
}

void NodeRelay::add_process(FileDescriptor socket, MessageChannel channel) {
  FileDescriptor same(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!same.is_open()) throw Error(ErrorKind::internal, "socket: " + errno_text(errno));
  std::string first = channel.take_rest();
  processes_.push_back({last_number_,
                        Forwarding(std::move(socket), channel.release(), std::move(first)),
                        AdapterConnection(std::move(same), {})});
}

void NodeRelay::carry_all() {
  for (auto process = processes_.begin(); process != processes_.end();) {
    const bool stays = process->asked || process->carried.carry();
    process = stays ? std::next(process) : processes_.erase(process);
  }
}

void NodeRelay::send_asked() {
  for (const std::string& message : asked_.take()) {
    static_cast<void>(engine_->send(message, kSendToEngineSeconds));
  }
}

bool NodeRelay::serve_engine() {
  try {
    const bool open = engine_->read_available();
    while (const auto line = engine_->next()) {
      const json request = json::parse(*line, nullptr, false);
      if (request.is_object()) answer(request);
    }
    return open;
  } catch (const Error&) {
    return false;  // It is no engine that says such things.
  }
}

void NodeRelay::answer(const json& request) {
  const Fields fields(request, "a request of the engine");
  const std::string type = fields.text("type");
  if (type == "stop") return asked_.stop();
  if (type == "ask") {
    return asked_.begin(fields.count("id"), read_node_ask(request), processes_);
  }
  json message{{"id", fields.count("id")}, {"type", type}};
  if (type == "memory") {
    const AvailableMemory memory = available_memory();
    message["available_bytes"] = memory.available_bytes;
    message["spare_bytes"] = memory.spare_bytes;
  } else if (type == "close") {
    listener_.close();
  } else if (type == "finish") {
    finished_ = true;
    finish_ = {.exit = fields.text_or("then", "") == "exit",
               .exit_code = fields.small_count_or("exit_code", 0),
               .text = fields.text_or("text", ""),
               .told = fields.flag_or("told", false),
               .measured = fields.flag_or("measured", false)};
  }
  static_cast<void>(engine_->send(message.dump(), kSendToEngineSeconds));
}

void NodeRelay::close() noexcept {
  listener_.close();
  asked_.end();
  processes_.clear();
  engine_.reset();
}

}  // namespace cachebisect
