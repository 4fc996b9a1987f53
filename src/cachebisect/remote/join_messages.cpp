#include "cachebisect/remote/join_messages.hpp"

#include <algorithm>
#include <cctype>
#include <random>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_depth.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/remote/fields.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxNodeName = 64;
constexpr int kTokenWords = 4;
constexpr const char* kOwnVariables = "CACHEBISECT_";

json parsed(const std::string& line, const std::string& place) {
  json message = is_nested_too_deep(line) ? json() : json::parse(line, nullptr, false);
  if (!message.is_object()) {
    throw Error(ErrorKind::usage, place + ": it is no cachebisect that answers there");
  }
  return message;
}

void check_join_version(const Fields& fields) {
  const std::uint64_t protocol = fields.count_or("protocol", 0);
  if (protocol == kNodesVersion) return;
  throw Error(ErrorKind::usage, "it speaks version " + std::to_string(protocol) +
                                    " of the protocol between nodes, the other side (" + version() +
                                    ") version " + std::to_string(kNodesVersion) +
                                    "; install the same release on all nodes");
}

}  // namespace

json to_json(const JoinRequest& request) {
  return {{"type", "join"},
          {"protocol", kNodesVersion},
          {"token", request.token},
          {"node", request.node},
          {"for", request.purpose == JoinedFor::node ? "node" : "process"},
          {"process", request.process}};
}

JoinRequest read_join_request(const std::string& line) {
  const json message = parsed(line, "a request to join");
  const Fields fields(message, "a request to join");
  if (fields.text_or("type", "") != "join") fields.refuse("type", "'join'");
  check_join_version(fields);
  JoinRequest request{fields.text("token"), fields.text("node")};
  check_node_name(request.node);
  const std::string purpose = fields.text("for");
  if (purpose != "node" && purpose != "process") fields.refuse("for", "'node' or 'process'");
  if (purpose == "process") {
    request.purpose = JoinedFor::process;
    request.process = static_cast<std::uint64_t>(fields.small_count("process"));
  }
  return request;
}

json to_json(const JoinAnswer& answer) {
  return {
      {"type", "joined"}, {"protocol", kNodesVersion}, {"environment", json(answer.environment)}};
}

json join_refusal(const std::string& why) {
  return {{"type", "refused"}, {"protocol", kNodesVersion}, {"text", why}};
}

JoinAnswer read_join_answer(const std::string& line) {
  const json message = parsed(line, "the answer to a request to join");
  const Fields fields(message, "the answer to a request to join");
  const std::string type = fields.text_or("type", "");
  if (type == "refused") throw Error(ErrorKind::usage, fields.text_or("text", "refused"));
  if (type != "joined") fields.refuse("type", "'joined' or 'refused'");
  check_join_version(fields);
  JoinAnswer answer;
  const json environment = message.value("environment", json::object());
  for (const auto& [name, value] : environment.items()) {
    // A command gets nothing else from another machine.
    if (name.starts_with(kOwnVariables) && value.is_string()) answer.environment[name] = value;
  }
  return answer;
}

std::string line_of(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

void check_node_name(const std::string& name) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view(".-_").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!name.empty() && name.size() <= kMaxNodeName && std::ranges::all_of(name, is_plain)) return;
  throw Error(ErrorKind::usage,
              "the name of a node has 1 to 64 letters, digits, dots, hyphens and underscores; give "
              "another one with --name");
}

bool same_token(const std::string& given, const std::string& expected) noexcept {
  unsigned difference = given.size() == expected.size() ? 0U : 1U;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(other ^ expected[i]);
  }
  return difference == 0;
}

std::string new_token() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string token;
  for (int word = 0; word < kTokenWords; ++word) {
    unsigned bits = random();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4U) token += kDigits[bits & 0xfU];
  }
  return token;
}

}  // namespace cachebisect
