#include "cachebisect/remote/adapter_connection.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_depth.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/stop_event.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

constexpr double kSendSeconds = 5;  ///< an adapter that works on a request need not read

[[noreturn]] void interrupted() {
  throw Error(ErrorKind::interrupted, "stopped while the training process ran");
}

}  // namespace

AdapterConnection::AdapterConnection(SocketStream socket, const AdapterLimits& limits,
                                     std::string peer)
    : channel_(std::move(socket)), limits_(limits), peer_(std::move(peer)) {}

void AdapterConnection::send(json request) {
  open_id_ = ++last_id_;
  open_type_ = request.at("type").get<std::string>();
  request["id"] = open_id_;
  if (!channel_.send(request.dump(-1, ' ', false, json::error_handler_t::replace), kSendSeconds)) {
    throw Error(ErrorKind::data, peer_ + " does not take the request '" + open_type_ +
                                     "': it has ended or is stuck; see its own messages");
  }
}

std::optional<json> AdapterConnection::poll_answer() {
  const bool open = channel_.read_available();
  while (const auto line = channel_.next()) {
    if (auto answer = answer_in(*line)) return answer;
  }
  if (open) return std::nullopt;
  closed_ = true;
  throw Error(ErrorKind::data, peer_ + " ended the connection before it answered '" + open_type_ +
                                   "'" +
                                   (channel_.has_partial_message() ? ", inside a message" : "") +
                                   "; see its own messages");
}

/// The answer to the open request, if this line is that.
std::optional<json> AdapterConnection::answer_in(const std::string& line) {
  const std::string place = "a message while '" + open_type_ + "' is open";
  if (is_nested_too_deep(line)) {
    throw Error(ErrorKind::internal, place + " is nested deeper than " +
                                         std::to_string(kMostJsonDepth) +
                                         " levels (docs/extend/protocol.md)");
  }
  json message = json::parse(line, nullptr, false);
  if (message.is_discarded()) {
    throw Error(ErrorKind::internal, place + " is not JSON in UTF-8 (docs/extend/protocol.md)");
  }
  const Fields fields(message, place);
  if (const auto clock = fields.optional_number("clock")) {
    clock_ = std::max(*clock, clock_.value_or(*clock));
  }
  const std::string type = fields.text("type");
  const std::uint64_t id = fields.count("id");
  if (id > open_id_) fields.refuse("id", "that of a request that was sent");
  if (id < open_id_) return std::nullopt;
  if (type == "busy") {
    was_busy_ = true;
    if (on_busy_) on_busy_(fields.text_or("text", ""));
    return std::nullopt;
  }
  if (type == "error") throw Error(read_error(message));
  if (type != open_type_) fields.refuse("type", "'" + open_type_ + "', 'busy' or 'error'");
  return message;
}

/// Empty if the adapter was silent for `seconds`. Throws Error(interrupted) on `stop`, at once.
std::optional<json> AdapterConnection::await_answer(double seconds, const std::stop_token& stop) {
  const StopEvent stopped(stop);
  double deadline = monotonic_seconds() + seconds;
  for (;;) {
    was_busy_ = false;
    if (auto answer = poll_answer()) return answer;
    if (stop.stop_requested()) interrupted();
    if (was_busy_) deadline = monotonic_seconds() + seconds;
    if (wait_readable({channel_.descriptor(), stopped.descriptor()}, deadline).empty()) {
      return std::nullopt;
    }
  }
}

json AdapterConnection::request(const json& request, const std::stop_token& stop) {
  if (stop.stop_requested()) interrupted();
  send(request);
  return await_open(limits_.answer, stop);
}

json AdapterConnection::await_open(double seconds, const std::stop_token& stop) {
  try {
    if (auto answer = await_answer(seconds, stop)) return *std::move(answer);
  } catch (const Error& error) {
    // The adapter itself may say so, or the user has asked for it.
    if (error.kind() == ErrorKind::interrupted && stop.stop_requested()) send_stop();
    throw;
  }
  send_stop();
  throw Error(ErrorKind::data, peer_ + " has not answered '" + open_type_ + "' for " +
                                   format_seconds(seconds > 0 ? seconds : limits_.answer) +
                                   ": it is stuck, or a step takes longer than that; raise "
                                   "--answer-timeout if so");
}

/// Gives the open request a short time to end, so that nothing runs in the training process any
/// more when this returns. Asks again: a signal that arrives right before a wait does not end it.
void AdapterConnection::send_stop() {
  constexpr int attempts = 4;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const json message{{"id", ++last_id_}, {"type", "stop"}};
    if (!channel_.send(message.dump(), limits_.stop)) return;
    try {
      if (await_answer(limits_.stop / attempts, {}).has_value()) return;
    } catch (const Error&) {
      // What ends the request is of no interest any more.
      return;
    }
  }
  stuck_ = true;
}

bool AdapterConnection::finish(bool exit, int exit_code, const std::string& text) noexcept {
  try {
    send(finish_request(exit, exit_code, text));
    return !stuck_ && await_answer(limits_.finish, {}).has_value();
  } catch (...) {
    // The adapter has ended already, or ends with the connection.
    return true;
  }
}

}  // namespace cachebisect
