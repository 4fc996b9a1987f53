#include "cachebisect/remote/node_connection.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

/// A relay does nothing but wait.
constexpr double kAnswerSeconds = 10;

}  // namespace

NodeConnection::NodeConnection(std::string name, FileDescriptor socket)
    : name_(std::move(name)), connection_(std::move(socket), {.answer = kAnswerSeconds}) {}

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

nlohmann::json NodeConnection::request(const char* type, const std::stop_token& stop) {
  try {
    return connection_.request({{"type", type}}, stop);
  } catch (const Error& error) {
    throw Error(error.with_context("node " + name_));
  }
}

AvailableMemory NodeConnection::memory(const std::stop_token& stop) {
  const nlohmann::json answer = request("memory", stop);
  const Fields fields(answer, "the answer of node " + name_ + " to 'memory'");
  return {.available_bytes = fields.amount("available_bytes"),
          .spare_bytes = fields.amount("spare_bytes")};
}

void NodeConnection::close_to_processes() noexcept {
  try {
    static_cast<void>(request("close", {}));
  } catch (...) {
    // It has ended: so have its processes.
  }
}

void NodeConnection::finish(const RunEnd& end) noexcept {
  try {
    nlohmann::json request = finish_request(end.exit, end.exit_code, end.text);
    request["told"] = end.told;
    request["measured"] = end.measured;
    static_cast<void>(connection_.request(request, {}));
  } catch (...) {
    // It has ended.
  }
}

}  // namespace cachebisect
