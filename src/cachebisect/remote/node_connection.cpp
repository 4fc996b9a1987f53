#include "cachebisect/remote/node_connection.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

/// What a relay may take for an answer of its own.
constexpr double kAnswerSeconds = 10;
/// A relay gives its ranks a second to stop.
constexpr double kStopSeconds = 2;

}  // namespace

NodeConnection::NodeConnection(std::string name, SocketStream socket)
    : name_(std::move(name)),
      connection_(std::move(socket), {.answer = kAnswerSeconds, .stop = kStopSeconds},
                  "its `cachebisect join`") {}

void NodeConnection::check() {
  if (wait_readable({descriptor()}, 0).empty()) return;
  try {
    static_cast<void>(connection_.poll_answer());
  } catch (const Error&) {
    throw Error(ErrorKind::data, "node " + name_ +
                                     ": its `cachebisect join` has ended, or is not reached any "
                                     "more; see its own messages");
  }
}

nlohmann::json NodeConnection::request(const nlohmann::json& message, const std::stop_token& stop) {
  try {
    connection_.send(message);
    return connection_.await_open(kAnswerSeconds, stop);
  } catch (const Error& error) {
    throw Error(error.with_context("node " + name_));
  }
}

AvailableMemory NodeConnection::memory(const std::stop_token& stop) {
  const nlohmann::json answer = request({{"type", "memory"}}, stop);
  const Fields fields(answer, "the answer of node " + name_ + " to 'memory'");
  return {.available_bytes = fields.amount("available_bytes"),
          .spare_bytes = fields.amount("spare_bytes")};
}

void NodeConnection::close_to_processes() noexcept {
  try {
    static_cast<void>(request({{"type", "close"}}, {}));
  } catch (...) {
    // It has ended: so have its processes.
  }
}

void NodeConnection::finish(const RunEnd& end) noexcept {
  try {
    nlohmann::json finished = finish_request(end.exit, end.exit_code, end.text);
    finished["told"] = end.told;
    finished["measured"] = end.measured;
    static_cast<void>(request(finished, {}));
  } catch (...) {
    // It has ended.
  }
}

}  // namespace cachebisect
